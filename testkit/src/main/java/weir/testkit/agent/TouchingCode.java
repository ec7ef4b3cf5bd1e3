package weir.testkit.agent;

import static weir.testkit.agent.Sites.simple;

import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.Instruction;
import java.lang.classfile.Label;
import java.lang.classfile.MethodModel;
import java.lang.classfile.Opcode;
import java.lang.classfile.instruction.ArrayLoadInstruction;
import java.lang.classfile.instruction.ArrayStoreInstruction;
import java.lang.classfile.instruction.FieldInstruction;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.classfile.instruction.LineNumber;
import java.lang.classfile.instruction.MonitorInstruction;
import java.lang.classfile.instruction.ReturnInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;

/** Rewrites the code of one method: see {@link Touching}. */
final class TouchingCode implements CodeTransform {
  static final ClassDesc TOUCH = ClassDesc.of("weir.testkit.agent.Touch");
  static final ClassDesc OBJECT = ConstantDescs.CD_Object;
  static final MethodTypeDesc ON_AT =
      MethodTypeDesc.of(ConstantDescs.CD_void, OBJECT, ConstantDescs.CD_int);
  static final MethodTypeDesc ON = MethodTypeDesc.of(ConstantDescs.CD_void, OBJECT);

  private final ClassModel model;
  private final Members members;
  private final String self;
  private final boolean isUsers;
  private final boolean hasPlainFields;
  private final boolean isConstructor;
  private final boolean isInitializer;
  private final boolean isStatic;
  private final boolean isSynchronized;

  private final Sites sites;
  private final Calls calls;
  private final Elements elements;
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
    this.isUsers = isUsers;
    this.hasPlainFields = hasPlainFields;
    var arguments = new Arguments();
    this.sites = new Sites(self, file, isUsers);
    this.calls = new Calls(members, self, sites, arguments);
    this.elements = new Elements(arguments);
    this.isConstructor = method.methodName().stringValue().equals("<init>");
    this.isInitializer = method.methodName().stringValue().equals("<clinit>");
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
      exit(code);
      code.athrow();
    }
  }

  private void monitor(CodeBuilder code) {
    if (isStatic) code.loadConstant(model.thisClass().asSymbol());
    else code.aload(0);
  }

  @Override
  public void accept(CodeBuilder code, CodeElement element) {
    if (element instanceof Instruction instruction) elements.follow(instruction);
    switch (element) {
      case LineNumber number -> {
        sites.line = number.line();
        code.with(element);
      }
      case InvokeInstruction call -> calls.invoke(code, call);
      case FieldInstruction field -> {
        touchField(code, field);
        code.with(element);
      }
      case ArrayLoadInstruction load when isUsers && !isInitializer -> {
        elements.touch(code, sites.at(Site.READ, true, false, "array", "get"));
        code.with(load);
      }
      case ArrayStoreInstruction store when isUsers && !isInitializer -> {
        if (elements.fills(store)) code.with(store);
        else elements.store(code, store, sites.at(Site.WRITE, true, false, "array", "set"));
      }
      case MonitorInstruction monitor -> {
        code.dup();
        if (monitor.opcode() == Opcode.MONITORENTER) {
          code.loadConstant(sites.at(Site.WRITE, "monitor", "synchronized"));
          code.invokestatic(TOUCH, "enter", ON_AT);
        } else exit(code);
        code.with(element);
      }
      case ReturnInstruction _ when isSynchronized -> {
        monitor(code);
        exit(code);
        code.with(element);
      }
      default -> code.with(element);
    }
  }

  private void exit(CodeBuilder code) {
    code.loadConstant(sites.at(Site.WRITE, "monitor", "exit"));
    code.invokestatic(TOUCH, "exit", ON_AT);
  }

  // ---- fields ----

  private void touchField(CodeBuilder code, FieldInstruction field) {
    var owner = field.owner().asInternalName();
    var name = field.name().stringValue();
    if (isInitializer || name.startsWith("$") || owner.startsWith("java/")) return;
    var opcode = field.opcode();
    // A constructor may write fields before the object is one to the verifier.
    var isOwn = opcode == Opcode.PUTFIELD && owner.equals(self);
    if (isConstructor && (isOwn || !isUsers)) return;
    var flags = owner.equals("scala/runtime/IntRef") ? 0 : members.flags(owner, name);
    if (flags == Members.UNKNOWN) flags = 0;
    var isVolatile = (flags & ClassFile.ACC_VOLATILE) != 0;
    if ((flags & ClassFile.ACC_FINAL) != 0 || !isVolatile && !hasPlainFields) return;
    if (name.equals("MODULE$") || name.contains("$lzy") || name.contains("bitmap$")) return;
    var isRead = opcode == Opcode.GETFIELD || opcode == Opcode.GETSTATIC;
    var site =
        sites.at(
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
}
