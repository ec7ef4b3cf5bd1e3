package weir.testkit.agent;

import static weir.testkit.agent.Sites.simple;

import java.lang.classfile.ClassFile;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Opcode;
import java.lang.classfile.TypeKind;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Rewrites the calls in the code of one method: see {@link Touching}. */
final class Calls {
  private static final ClassDesc TOUCH = TouchingCode.TOUCH;
  private static final ClassDesc OBJECT = TouchingCode.OBJECT;
  private static final MethodTypeDesc ON_AT = TouchingCode.ON_AT;
  private static final MethodTypeDesc ON = TouchingCode.ON;
  private static final MethodTypeDesc ON_IF =
      MethodTypeDesc.of(ConstantDescs.CD_boolean, ConstantDescs.CD_boolean);
  private static final MethodTypeDesc AT =
      MethodTypeDesc.of(ConstantDescs.CD_void, ConstantDescs.CD_int);
  private static final MethodTypeDesc OF = MethodTypeDesc.of(ConstantDescs.CD_void, OBJECT, OBJECT);

  private final Members members;
  private final String self;
  private final boolean isUsers;
  private final Sites sites;
  private final Arguments arguments;
  private int receiver = -1;

  Calls(Members members, String self, Sites sites, Arguments arguments) {
    this.members = members;
    this.self = self;
    this.isUsers = sites.isUsers;
    this.sites = sites;
    this.arguments = arguments;
  }

  void invoke(CodeBuilder code, InvokeInstruction call) {
    var owner = call.owner().asInternalName();
    var name = call.name().stringValue();
    var type = call.typeSymbol();
    if (Operations.isUnrepeatable(owner, name, type) && isUsers) {
      code.loadConstant(sites.at(Site.OTHER, simple(owner), name.equals("<init>") ? "new" : name));
      code.invokestatic(TOUCH, "unrepeatable", AT);
    }
    if (name.startsWith("<")) code.with(call);
    else if (isWait(call, name, type)) await(code, call, type);
    else if (owner.equals("java/lang/Thread")) thread(code, call, name, type);
    else if (owner.equals("java/util/concurrent/locks/LockSupport") && name.equals("unpark")) {
      code.dup();
      code.loadConstant(sites.at(Site.WRITE, "Thread", name));
      code.invokestatic(TOUCH, "at", ON_AT);
      code.with(call);
    } else if (call.opcode() == Opcode.INVOKESTATIC) {
      beforeStatic(code, call, owner, name, type);
      if (Operations.isFieldUpdater(owner)) newUpdater(code, call, type);
      else code.with(call);
      made(code, owner, name, type);
    } else {
      before(code, call, owner, name, type);
      if (isUsers && isShared(owner) && Operations.callsFunctions(type)) withFunctions(code, call);
      else if (isUsers && isViewed(owner, name, type)) {
        code.dup();
        code.with(call);
        code.dup_x1();
        code.invokestatic(TOUCH, "viewed", OF);
      } else code.with(call);
      if (isInstruction(owner, name)) {
        code.dup();
        code.invokestatic(TOUCH, "ended", ON);
      }
      made(code, owner, name, type);
      // The number of openings of a stream decides about a class for it: runs would differ.
      if (owner.equals("weir/stream/FusedShapes$") && name.equals("isOn"))
        code.invokestatic(TOUCH, "unlessExplored", ON_IF);
    }
  }

  private static boolean isViewed(String owner, String name, MethodTypeDesc type) {
    return Operations.isView(name, type) && isShared(owner);
  }

  private static boolean isShared(String owner) {
    return Operations.isConcurrent(owner) || Operations.isCollection(owner);
  }

  /** Its functions are code in which other threads may come: so its end is one more access. */
  private void withFunctions(CodeBuilder code, InvokeInstruction call) {
    var type = call.typeSymbol();
    var saved = arguments.save(code, type);
    if (receiver < 0) receiver = code.allocateLocal(TypeKind.REFERENCE);
    code.dup();
    code.astore(receiver);
    arguments.load(code, type, saved);
    code.with(call);
    code.aload(receiver);
    var owner = call.owner().asInternalName();
    var name = call.name().stringValue();
    code.loadConstant(
        sites.at(
            Operations.kind(name), false, !Operations.isConcurrent(owner), simple(owner), name));
    code.invokestatic(TOUCH, "after", ON_AT);
  }

  private void beforeStatic(
      CodeBuilder code, InvokeInstruction call, String owner, String name, MethodTypeDesc type) {
    if (!isUsers) return;
    if (owner.equals("java/util/concurrent/locks/LockSupport") && name.startsWith("park")) {
      code.loadConstant(sites.at(Site.WRITE, "Thread", name));
      code.invokestatic(TOUCH, "thread", AT);
    } else if (isSynchronized(owner, name + call.type().stringValue(), true)) {
      code.loadConstant(call.owner().asSymbol());
      code.loadConstant(sites.at(Site.WRITE, "monitor", name));
      code.invokestatic(TOUCH, "beforeEnter", ON_AT);
    }
  }

  /** Tells which field the updater is for: its last argument. */
  private void newUpdater(CodeBuilder code, InvokeInstruction call, MethodTypeDesc type) {
    var saved = arguments.save(code, type);
    arguments.load(code, type, saved);
    code.with(call);
    code.dup();
    code.aload(saved.getLast());
    code.invokestatic(TOUCH, "named", OF);
  }

  private void before(
      CodeBuilder code, InvokeInstruction call, String owner, String name, MethodTypeDesc type) {
    if (owner.equals("java/lang/invoke/VarHandle")) varHandle(code, call, name, type);
    else if (isUsers && name.startsWith("notify") && isNotify(name, type))
      hook(code, type, "notified", sites.at(Site.SIGNAL, "monitor", name));
    else if (isInstruction(owner, name))
      hook(code, type, "begins", sites.at(Site.OTHER, simple(owner), name));
    else if (self.equals("weir/fiber/TaskFiber") && isFunction(owner, name))
      hook(code, type, "calls", sites.at(Site.OTHER, simple(owner), name));
    else if (owner.equals("weir/runtime/ExecutionThread") && name.equals("yieldNowAndThen"))
      hook(code, type, "cedes", sites.at(Site.OTHER, "Task", "cede"));
    else if (Operations.isFieldUpdater(owner)) objectOf(code, type, "updater", siteOf(owner, name));
    else if (Operations.isConcurrent(owner)) {
      hook(code, type, "at", siteOf(owner, name));
      if (isUsers && Operations.isInterruptible(name, type)) interruptible(code);
    } else if (isUsers && Operations.isIterator(owner))
      hook(code, type, "at", sites.at(Operations.kind(name), false, true, "Iterator", name));
    else if (isUsers && Operations.isCollection(owner))
      hook(code, type, "at", sites.at(Operations.kind(name), false, true, simple(owner), name));
    else if (isUsers && isSynchronized(owner, name + call.type().stringValue(), false))
      hook(code, type, "beforeEnter", sites.at(Site.WRITE, "monitor", name));
  }

  /**
   * Returns true if the call is one of {@code Object.wait}: those methods are final, and a call may
   * name any class.
   */
  private static boolean isWait(InvokeInstruction call, String name, MethodTypeDesc type) {
    var types = type.displayDescriptor();
    return name.equals("wait")
        && call.opcode() == Opcode.INVOKEVIRTUAL
        && (types.equals("()void") || types.equals("(long)void") || types.equals("(long,int)void"));
  }

  private static boolean isNotify(String name, MethodTypeDesc type) {
    return (name.equals("notify") || name.equals("notifyAll"))
        && type.displayDescriptor().equals("()void");
  }

  private static boolean isInstruction(String owner, String name) {
    return owner.equals("weir/fiber/Suspend") && name.equals("begin")
        || owner.equals("weir/fiber/Delay") && name.equals("run");
  }

  private static boolean isFunction(String owner, String name) {
    return name.equals("apply")
        && (owner.equals("scala/Function0") || owner.equals("scala/Function1"));
  }

  /** The ends of children commute: only the last one does more than count. */
  private int siteOf(String owner, String name) {
    var isCount = self.equals("weir/group/ChildGroup") && owner.endsWith("AtomicInteger");
    return sites.at(isCount ? Site.MERGE : Operations.kind(name), simple(owner), name);
  }

  private void interruptible(CodeBuilder code) {
    code.invokestatic(TOUCH, "interruptible", MethodTypeDesc.of(ConstantDescs.CD_void));
  }

  private boolean isSynchronized(String owner, String method, boolean isStatic) {
    if (owner.startsWith("java/") || owner.startsWith("scala/") || owner.startsWith("["))
      return false;
    var flags = members.flags(owner, method);
    return flags != Members.UNKNOWN
        && (flags & ClassFile.ACC_SYNCHRONIZED) != 0
        && (flags & ClassFile.ACC_STATIC) != 0 == isStatic;
  }

  private void await(CodeBuilder code, InvokeInstruction call, MethodTypeDesc type) {
    if (!isUsers || type.parameterCount() > 1) code.with(call);
    else {
      code.loadConstant(sites.at(Site.WRITE, "monitor", "wait"));
      var parameters = new ArrayList<ClassDesc>(List.of(OBJECT));
      parameters.addAll(type.parameterList());
      parameters.add(ConstantDescs.CD_int);
      code.invokestatic(TOUCH, "await", MethodTypeDesc.of(ConstantDescs.CD_void, parameters));
    }
  }

  private void thread(CodeBuilder code, InvokeInstruction call, String name, MethodTypeDesc type) {
    if (isUsers && (name.equals("yield") || name.equals("onSpinWait"))) {
      code.loadConstant(sites.at(Site.OTHER, "Thread", name));
      code.invokestatic(TOUCH, name.equals("yield") ? "yieldNow" : "spin", AT);
    } else if (isUsers && name.equals("interrupted")) {
      code.loadConstant(sites.at(Site.WRITE, "Thread", name));
      code.invokestatic(TOUCH, "thread", AT);
      code.with(call);
    } else {
      if (isUsers && threadMethods.contains(name)) {
        var kind = name.equals("interrupt") ? Site.WRITE : Site.READ;
        hook(code, type, "at", sites.at(kind, "Thread", name));
        if (name.equals("join") || name.equals("isInterrupted")) interruptible(code);
      }
      code.with(call);
    }
  }

  private static final Set<String> threadMethods =
      Set.of("interrupt", "isInterrupted", "join", "isAlive", "getState");

  /**
   * The object whose field is accessed is the first argument; for a static field, it is the handle.
   */
  private void varHandle(
      CodeBuilder code, InvokeInstruction call, String name, MethodTypeDesc type) {
    var kind = name.startsWith("get") && !name.startsWith("getAnd") ? Site.READ : Site.WRITE;
    var first = type.parameterCount() == 0 ? null : type.parameterType(0);
    var site = sites.at(kind, "VarHandle", name);
    if (first != null && first.isArray()) {
      var saved = arguments.save(code, type);
      code.aload(saved.get(0));
      code.iload(saved.get(1));
      code.loadConstant(site);
      code.invokestatic(TOUCH, "element", Elements.AT);
      arguments.load(code, type, saved);
    } else if (first != null && first.isClassOrInterface()) objectOf(code, type, "handle", site);
    else hook(code, type, "at", site);
  }

  /** Calls {@code method} with the object of the call that follows, and its first argument. */
  private void objectOf(CodeBuilder code, MethodTypeDesc type, String method, int site) {
    var saved = arguments.save(code, type);
    var of = method.equals("handle") ? ConstantDescs.CD_VarHandle : OBJECT;
    code.dup();
    code.aload(saved.get(0));
    code.loadConstant(site);
    code.invokestatic(
        TOUCH, method, MethodTypeDesc.of(ConstantDescs.CD_void, of, OBJECT, ConstantDescs.CD_int));
    arguments.load(code, type, saved);
  }

  /** Calls {@code method} with the object of the call of a method of {@code type} that follows. */
  private void hook(CodeBuilder code, MethodTypeDesc type, String method, int site) {
    var saved = arguments.save(code, type);
    code.dup();
    code.loadConstant(site);
    code.invokestatic(TOUCH, method, ON_AT);
    arguments.load(code, type, saved);
  }

  /** Follows a call of a method of this library that returns a task. */
  private void made(CodeBuilder code, String owner, String name, MethodTypeDesc type) {
    if (isUsers
        && owner.startsWith("weir/")
        && !owner.equals(self)
        && !name.contains("$")
        && type.returnType().descriptorString().equals("Lweir/Task;")) {
      code.dup();
      code.loadConstant(sites.at(Site.OTHER, simple(owner), name));
      code.invokestatic(TOUCH, "made", ON_AT);
    }
  }
}
