package weir.testkit.agent;

import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.Label;
import java.lang.classfile.MethodModel;
import java.lang.classfile.Opcode;
import java.lang.classfile.TypeKind;
import java.lang.classfile.instruction.FieldInstruction;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.classfile.instruction.LineNumber;
import java.lang.classfile.instruction.MonitorInstruction;
import java.lang.classfile.instruction.ReturnInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.util.EnumMap;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Rewrites the code of one method: see {@link Touching}. */
final class TouchingCode implements CodeTransform {
  private static final ClassDesc TOUCH = ClassDesc.of("weir.testkit.agent.Touch");
  private static final ClassDesc OBJECT = ConstantDescs.CD_Object;
  private static final MethodTypeDesc ON_AT =
      MethodTypeDesc.of(ConstantDescs.CD_void, OBJECT, ConstantDescs.CD_int);
  private static final MethodTypeDesc ON = MethodTypeDesc.of(ConstantDescs.CD_void, OBJECT);
  private static final MethodTypeDesc ON_IF =
      MethodTypeDesc.of(ConstantDescs.CD_boolean, ConstantDescs.CD_boolean);
  private static final MethodTypeDesc AT =
      MethodTypeDesc.of(ConstantDescs.CD_void, ConstantDescs.CD_int);

  private final ClassModel model;
  private final Members members;
  private final String self;
  private final String file;
  private final boolean isUsers;
  private final boolean hasPlainFields;
  private final boolean isInitializer;
  private final boolean isStatic;
  private final boolean isSynchronized;

  private final Map<TypeKind, List<Integer>> slots = new EnumMap<>(TypeKind.class);
  private int line = -1;
  private Label begin;
  private Label end;

  TouchingCode(
      ClassModel model,
      MethodModel method,
      Members members,
      String file,
      boolean isUsers,
      boolean hasPlainFields) {
    this.model = model;
    this.members = members;
    this.self = model.thisClass().asInternalName();
    this.file = file;
    this.isUsers = isUsers;
    this.hasPlainFields = hasPlainFields;
    this.isInitializer = method.methodName().stringValue().startsWith("<");
    this.isStatic = (method.flags().flagsMask() & ClassFile.ACC_STATIC) != 0;
    this.isSynchronized = (method.flags().flagsMask() & ClassFile.ACC_SYNCHRONIZED) != 0;
  }

  @Override
  public void atStart(CodeBuilder code) {
    if (isSynchronized) {
      begin = code.newLabel();
      end = code.newLabel();
      monitor(code);
      code.invokestatic(TOUCH, "entered", ON);
      code.labelBinding(begin);
    }
  }

  @Override
  public void atEnd(CodeBuilder code) {
    if (isSynchronized) {
      code.labelBinding(end);
      var handler = code.newBoundLabel();
      code.exceptionCatchAll(begin, end, handler);
      monitor(code);
      code.invokestatic(TOUCH, "exit", ON);
      code.athrow();
    }
  }

  private void monitor(CodeBuilder code) {
    if (isStatic) code.loadConstant(model.thisClass().asSymbol());
    else code.aload(0);
  }

  @Override
  public void accept(CodeBuilder code, CodeElement element) {
    switch (element) {
      case LineNumber number -> {
        line = number.line();
        code.with(element);
      }
      case InvokeInstruction call -> invoke(code, call);
      case FieldInstruction field -> {
        touchField(code, field);
        code.with(element);
      }
      case MonitorInstruction monitor -> {
        code.dup();
        if (monitor.opcode() == Opcode.MONITORENTER) {
          code.loadConstant(site(Site.WRITE, "monitor", "synchronized"));
          code.invokestatic(TOUCH, "enter", ON_AT);
        } else code.invokestatic(TOUCH, "exit", ON);
        code.with(element);
      }
      case ReturnInstruction _ when isSynchronized -> {
        monitor(code);
        code.invokestatic(TOUCH, "exit", ON);
        code.with(element);
      }
      default -> code.with(element);
    }
  }

  // ---- calls ----

  private void invoke(CodeBuilder code, InvokeInstruction call) {
    var owner = call.owner().asInternalName();
    var name = call.name().stringValue();
    var type = call.typeSymbol();
    if (Operations.isUnrepeatable(owner, name, type) && isUsers) {
      code.loadConstant(site(Site.OTHER, simple(owner), name.equals("<init>") ? "new" : name));
      code.invokestatic(TOUCH, "unrepeatable", AT);
    }
    if (name.startsWith("<")) code.with(call);
    else if (isWait(call, name, type)) await(code, call, type);
    else if (owner.equals("java/lang/Thread")) thread(code, call, name, type);
    else if (owner.equals("java/util/concurrent/locks/LockSupport") && name.equals("unpark")) {
      code.dup();
      code.loadConstant(site(Site.WRITE, "Thread", name));
      code.invokestatic(TOUCH, "at", ON_AT);
      code.with(call);
    } else if (call.opcode() == Opcode.INVOKESTATIC) {
      code.with(call);
      made(code, owner, name, type);
    } else {
      before(code, call, owner, name, type);
      code.with(call);
      made(code, owner, name, type);
      // How often a stream was opened before decides about a class for it: runs would differ.
      if (owner.equals("weir/stream/FusedShapes$") && name.equals("isOn"))
        code.invokestatic(TOUCH, "unlessExplored", ON_IF);
    }
  }

  private void before(
      CodeBuilder code, InvokeInstruction call, String owner, String name, MethodTypeDesc type) {
    if (owner.equals("java/lang/invoke/VarHandle")) varHandle(code, call, name, type);
    else if (isUsers && name.startsWith("notify") && isNotify(name, type))
      hook(code, type, "notified", site(Site.RELEASE, "monitor", name));
    else if (owner.startsWith("weir/fiber/") && isInstruction(owner, name))
      hook(code, type, "begins", site(Site.OTHER, simple(owner), name));
    else if (owner.equals("weir/runtime/ExecutionThread") && name.equals("yieldNowAndThen"))
      hook(code, type, "cedes", site(Site.OTHER, "Task", "cede"));
    else if (Operations.isConcurrent(owner))
      hook(code, type, "at", site(kindIn(owner, name), simple(owner), name));
    else if (isUsers && Operations.isCollection(owner))
      hook(code, type, "at", site(Operations.kind(name), false, true, simple(owner), name));
    else if (isUsers && isSynchronized(owner, name + call.type().stringValue()))
      hook(code, type, "beforeEnter", site(Site.WRITE, "monitor", name));
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

  /**
   * Returns the kind of an access. The ends of children commute: only the last one does more than
   * count.
   */
  private int kindIn(String owner, String name) {
    return self.equals("weir/group/ChildGroup") && owner.endsWith("AtomicInteger")
        ? Site.MERGE
        : Operations.kind(name);
  }

  private boolean isSynchronized(String owner, String method) {
    if (owner.startsWith("java/") || owner.startsWith("scala/") || owner.startsWith("["))
      return false;
    var flags = members.flags(owner, method);
    return flags != Members.UNKNOWN
        && (flags & ClassFile.ACC_SYNCHRONIZED) != 0
        && (flags & ClassFile.ACC_STATIC) == 0;
  }

  private void await(CodeBuilder code, InvokeInstruction call, MethodTypeDesc type) {
    if (!isUsers || type.parameterCount() > 1) code.with(call);
    else {
      code.loadConstant(site(Site.WRITE, "monitor", "wait"));
      var parameters = new ArrayList<ClassDesc>(List.of(OBJECT));
      parameters.addAll(type.parameterList());
      parameters.add(ConstantDescs.CD_int);
      code.invokestatic(TOUCH, "await", MethodTypeDesc.of(ConstantDescs.CD_void, parameters));
    }
  }

  private void thread(CodeBuilder code, InvokeInstruction call, String name, MethodTypeDesc type) {
    if (isUsers && (name.equals("yield") || name.equals("onSpinWait"))) {
      code.loadConstant(site(Site.OTHER, "Thread", name));
      code.invokestatic(TOUCH, name.equals("yield") ? "yieldNow" : "spin", AT);
    } else {
      if (isUsers && (name.equals("interrupt") || name.equals("join") || name.equals("isAlive")))
        hook(code, type, "at", site(Site.WRITE, "Thread", name));
      code.with(call);
    }
  }

  /**
   * The object whose field is accessed is the first argument; for a static field, it is the handle.
   */
  private void varHandle(
      CodeBuilder code, InvokeInstruction call, String name, MethodTypeDesc type) {
    var kind = name.startsWith("get") && !name.startsWith("getAnd") ? Site.READ : Site.WRITE;
    var hasObject = type.parameterCount() > 0 && type.parameterType(0).isClassOrInterface();
    var site = site(kind, "VarHandle", name);
    if (!hasObject) hook(code, type, "at", site);
    else {
      var saved = save(code, type);
      code.dup();
      code.aload(saved.get(0));
      code.loadConstant(site);
      code.invokestatic(
          TOUCH,
          "handle",
          MethodTypeDesc.of(
              ConstantDescs.CD_void, ConstantDescs.CD_VarHandle, OBJECT, ConstantDescs.CD_int));
      load(code, type, saved);
    }
  }

  /** Calls {@code method} with the object of the call of a method of {@code type} that follows. */
  private void hook(CodeBuilder code, MethodTypeDesc type, String method, int site) {
    var saved = save(code, type);
    code.dup();
    code.loadConstant(site);
    code.invokestatic(TOUCH, method, ON_AT);
    load(code, type, saved);
  }

  private List<Integer> save(CodeBuilder code, MethodTypeDesc type) {
    var used = new EnumMap<TypeKind, Integer>(TypeKind.class);
    var saved = new ArrayList<Integer>();
    for (var parameter : type.parameterList()) {
      var kind = TypeKind.from(parameter).asLoadable();
      var free = slots.computeIfAbsent(kind, _ -> new ArrayList<>());
      var index = used.merge(kind, 1, Integer::sum) - 1;
      if (index == free.size()) free.add(code.allocateLocal(kind));
      saved.add(free.get(index));
    }
    for (int i = saved.size() - 1; i >= 0; i--)
      code.storeLocal(TypeKind.from(type.parameterType(i)).asLoadable(), saved.get(i));
    return saved;
  }

  private void load(CodeBuilder code, MethodTypeDesc type, List<Integer> saved) {
    for (int i = 0; i < saved.size(); i++)
      code.loadLocal(TypeKind.from(type.parameterType(i)).asLoadable(), saved.get(i));
  }

  /** Follows a call of a method of this library that returns a task. */
  private void made(CodeBuilder code, String owner, String name, MethodTypeDesc type) {
    if (isUsers
        && owner.startsWith("weir/")
        && !owner.equals(self)
        && !name.contains("$")
        && type.returnType().descriptorString().equals("Lweir/Task;")) {
      code.dup();
      code.loadConstant(site(Site.OTHER, simple(owner), name));
      code.invokestatic(TOUCH, "made", ON_AT);
    }
  }

  // ---- fields ----

  private void touchField(CodeBuilder code, FieldInstruction field) {
    var owner = field.owner().asInternalName();
    var name = field.name().stringValue();
    if (isInitializer || name.startsWith("$") || owner.startsWith("java/")) return;
    var flags = owner.equals("scala/runtime/IntRef") ? 0 : members.flags(owner, name);
    if (flags == Members.UNKNOWN) flags = 0;
    var isVolatile = (flags & ClassFile.ACC_VOLATILE) != 0;
    if ((flags & ClassFile.ACC_FINAL) != 0 || !isVolatile && !hasPlainFields) return;
    if (name.equals("MODULE$") || name.contains("$lzy") || name.contains("bitmap$")) return;
    var opcode = field.opcode();
    var isRead = opcode == Opcode.GETFIELD || opcode == Opcode.GETSTATIC;
    var site =
        site(
            isRead ? Site.READ : Site.WRITE, !isVolatile, false, simple(owner) + "." + name, name);
    var isWide = field.typeSymbol().equals(ConstantDescs.CD_long)
        || field.typeSymbol().equals(ConstantDescs.CD_double);
    switch (opcode) {
      case GETFIELD -> code.dup();
      case PUTFIELD -> {
        if (isWide) code.dup2_x1().pop2().dup_x2();
        else code.dup2().pop();
      }
      default -> code.loadConstant(field.owner().asSymbol());
    }
    code.loadConstant(site);
    code.invokestatic(TOUCH, "at", ON_AT);
  }

  // ---- sites ----

  private int site(int kind, String what, String operation) {
    return site(kind, false, false, what, operation);
  }

  private int site(
      int kind, boolean isPlain, boolean isChecked, String what, String operation) {
    return Touch.add(
        new Site(
            kind,
            isUsers,
            isPlain,
            isChecked,
            what,
            operation,
            self.replace('/', '.'),
            file,
            line));
  }

  private static String simple(String owner) {
    var name = owner.substring(owner.lastIndexOf('/') + 1);
    return name.endsWith("$") ? name.substring(0, name.length() - 1) : name;
  }
}
