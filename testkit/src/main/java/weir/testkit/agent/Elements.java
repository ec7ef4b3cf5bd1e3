package weir.testkit.agent;

import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Instruction;
import java.lang.classfile.Opcode;
import java.lang.classfile.TypeKind;
import java.lang.classfile.instruction.ArrayStoreInstruction;
import java.lang.classfile.instruction.NewPrimitiveArrayInstruction;
import java.lang.classfile.instruction.NewReferenceArrayInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.util.ArrayDeque;

/** Makes one method tell which elements of arrays it reads and writes. */
final class Elements {
  static final MethodTypeDesc AT =
      MethodTypeDesc.of(
          ConstantDescs.CD_void,
          ConstantDescs.CD_Object,
          ConstantDescs.CD_int,
          ConstantDescs.CD_int);

  private final Arguments arguments;

  /** The elements of the new arrays that are being filled, one as an element of the other. */
  private final ArrayDeque<TypeKind> filling = new ArrayDeque<>();

  /** The elements of the array that the latest instruction has made, or has filled in part. */
  private TypeKind mayFill = null;

  Elements(Arguments arguments) {
    this.arguments = arguments;
  }

  /**
   * Follows what fills new arrays, such as those of variable arguments: the compilers keep such an
   * array on the stack, and copy the reference before each element.
   */
  void follow(Instruction instruction) {
    if (instruction.opcode() == Opcode.DUP && mayFill != null) filling.push(mayFill);
    mayFill =
        switch (instruction) {
          case NewPrimitiveArrayInstruction array -> array.typeKind();
          case NewReferenceArrayInstruction _ -> TypeKind.REFERENCE;
          default -> null;
        };
  }

  /** Returns true if {@code store} fills a new array, which no other thread has. */
  boolean fills(ArrayStoreInstruction store) {
    if (filling.isEmpty() || !isOf(store.typeKind(), filling.peek())) return false;
    mayFill = filling.pop();
    return true;
  }

  /** Bytes and booleans are stored by the same instruction. */
  private static boolean isOf(TypeKind stored, TypeKind element) {
    return stored == element || stored == TypeKind.BYTE && element == TypeKind.BOOLEAN;
  }

  /** With the array and the index on the stack, which stay there. */
  void touch(CodeBuilder code, int site) {
    code.dup2();
    code.loadConstant(site);
    code.invokestatic(ClassDesc.of("weir.testkit.agent.Touch"), "element", AT);
  }

  void store(CodeBuilder code, ArrayStoreInstruction store, int site) {
    var kind = store.typeKind();
    var type = kind == TypeKind.REFERENCE ? ConstantDescs.CD_Object : kind.upperBound();
    var value = MethodTypeDesc.of(ConstantDescs.CD_void, type);
    var saved = arguments.save(code, value);
    touch(code, site);
    arguments.load(code, value, saved);
    code.with(store);
  }
}
