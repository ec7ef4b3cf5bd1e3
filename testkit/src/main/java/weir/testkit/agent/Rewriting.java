package weir.testkit.agent;

import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.lang.instrument.ClassFileTransformer;
import java.security.ProtectionDomain;
import java.util.Set;

/**
 * Replaces the calls of {@code System.nanoTime} in the named classes by calls of a method {@code
 * nanoTime} elsewhere.
 *
 * <p>This is Java code, since {@code CodeTransform} is sealed, and Scala makes a class of a
 * function for it.
 */
public final class Rewriting implements ClassFileTransformer {
  private static final MethodTypeDesc RETURNS_LONG = MethodTypeDesc.of(ConstantDescs.CD_long);

  private final Set<String> names;
  private final CodeTransform calls;

  /** The error of a class that could not be rewritten, if any: the JVM would swallow it. */
  public volatile Throwable failure;

  /** {@code names} are those of the JVM, with slashes. */
  public Rewriting(Set<String> names, ClassDesc clock) {
    this.names = names;
    this.calls =
        (code, element) -> {
          if (element instanceof InvokeInstruction call
              && call.owner().asInternalName().equals("java/lang/System")
              && call.name().equalsString("nanoTime")) {
            code.invokestatic(clock, "nanoTime", RETURNS_LONG);
          } else {
            code.with(element);
          }
        };
  }

  @Override
  public byte[] transform(
      ClassLoader loader, String name, Class<?> old, ProtectionDomain domain, byte[] bytes) {
    if (name == null || !names.contains(name)) return null;
    try {
      var format = ClassFile.of();
      return format.transformClass(
          format.parse(bytes), ClassTransform.transformingMethodBodies(calls));
    } catch (Throwable error) {
      failure = error;
      return null;
    }
  }
}
