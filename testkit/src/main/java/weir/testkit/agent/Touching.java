package weir.testkit.agent;

import java.lang.classfile.Attributes;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.ClassModel;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.MethodModel;
import java.lang.classfile.MethodTransform;
import java.lang.instrument.ClassFileTransformer;
import java.security.ProtectionDomain;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Makes the code of the user, and this library's, report to {@link Touch} each access to an object
 * that several threads may share: atomics, locks and collections of {@code java.util.concurrent},
 * {@code VarHandle}s, monitors and fields. {@link TouchingCode} does the rewriting itself.
 */
public final class Touching implements ClassFileTransformer {
  private final Scope scope;

  /** The classes that could not be rewritten, and the errors. */
  public final ConcurrentHashMap<String, Throwable> failures = new ConcurrentHashMap<>();

  public Touching(Scope scope) {
    this.scope = scope;
  }

  /** Decides which classes are rewritten. */
  public interface Scope {
    /** Returns true if a class with this name of the JVM is the user's code. */
    boolean isUsers(ClassLoader loader, String name, ProtectionDomain domain);

    /** Returns true if it is code of this library that is explored. */
    boolean isOwn(ClassLoader loader, String name, ProtectionDomain domain);

    /** Returns true if a class of this library reports accesses to plain fields too. */
    boolean hasPlainFields(String name);
  }

  @Override
  public byte[] transform(
      ClassLoader loader, String name, Class<?> old, ProtectionDomain domain, byte[] bytes) {
    if (name == null || loader == null) return null;
    try {
      boolean isUsers = scope.isUsers(loader, name, domain);
      if (!isUsers && !scope.isOwn(loader, name, domain)) return null;
      return rewrite(loader, bytes, isUsers, isUsers || scope.hasPlainFields(name));
    } catch (Throwable error) {
      failures.put(name, error);
      return null;
    }
  }

  private byte[] rewrite(
      ClassLoader loader, byte[] bytes, boolean isUsers, boolean hasPlainFields) {
    var hierarchy =
        ClassHierarchyResolver.ofResourceParsing(loader)
            .orElse(ClassHierarchyResolver.defaultResolver());
    var format = ClassFile.of(ClassFile.ClassHierarchyResolverOption.of(hierarchy));
    var model = format.parse(bytes);
    if (model.majorVersion() < ClassFile.JAVA_5_VERSION)
      throw new UnsupportedOperationException(
          "class files of version " + model.majorVersion() + " are too old");
    var fields = new Members(loader, model);
    var file =
        model
            .findAttribute(Attributes.sourceFile())
            .map(source -> source.sourceFile().stringValue())
            .orElse("?");
    return format.transformClass(model, transform(model, fields, file, isUsers, hasPlainFields));
  }

  private ClassTransform transform(
      ClassModel model, Members members, String file, boolean isUsers, boolean hasPlainFields) {
    return (builder, element) -> {
      if (element instanceof MethodModel method && method.code().isPresent()) {
        var code = new TouchingCode(model, method, members, file, isUsers, hasPlainFields);
        builder.transformMethod(method, MethodTransform.transformingCode(code));
      } else {
        builder.with(element);
      }
    };
  }
}
