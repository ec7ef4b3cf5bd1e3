package weir.trace;

/** A lambda as Java makes it: not serializable. */
final class JavaFunctions {
  private JavaFunctions() {}

  static Object lambda() {
    java.util.function.Function<String, String> f = s -> s;
    return f;
  }
}
