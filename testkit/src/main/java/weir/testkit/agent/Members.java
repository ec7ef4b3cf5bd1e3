package weir.testkit.agent;

import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The flags of the fields and methods that a class refers to, read from the files of their classes.
 */
final class Members {
  /** The flags of a member that is not found. */
  static final int UNKNOWN = -1;

  private record Declared(String superclass, Map<String, Integer> flags) {}

  /** Weak: a loader that nothing else refers to is collected with its classes. */
  private static final Map<ClassLoader, Map<String, Declared>> known =
      Collections.synchronizedMap(new WeakHashMap<>());

  private static final Declared nothing = new Declared(null, Map.of());

  private final ClassLoader loader;
  private final String self;
  private final Declared own;
  private final Map<String, Declared> others;

  Members(ClassLoader loader, ClassModel model) {
    this.loader = loader;
    this.self = model.thisClass().asInternalName();
    this.own = read(model);
    this.others = known.computeIfAbsent(loader, _ -> new ConcurrentHashMap<>());
  }

  /** Returns the flags of a field, by its name, or of a method, by its name and descriptor. */
  int flags(String owner, String member) {
    var name = owner;
    while (name != null && !name.equals("java/lang/Object")) {
      var declared = name.equals(self) ? own : others.computeIfAbsent(name, this::find);
      var flags = declared.flags().get(member);
      if (flags != null) return flags;
      name = declared.superclass();
    }
    return UNKNOWN;
  }

  private Declared find(String name) {
    try (var file = loader.getResourceAsStream(name + ".class")) {
      return file == null ? nothing : read(ClassFile.of().parse(file.readAllBytes()));
    } catch (Exception _) {
      return nothing;
    }
  }

  private static Declared read(ClassModel model) {
    var flags = new HashMap<String, Integer>();
    for (var field : model.fields())
      flags.put(field.fieldName().stringValue(), field.flags().flagsMask());
    for (var method : model.methods())
      flags.put(
          method.methodName().stringValue() + method.methodType().stringValue(),
          method.flags().flagsMask());
    var superclass = model.superclass().map(entry -> entry.asInternalName()).orElse(null);
    return new Declared(superclass, flags);
  }
}
