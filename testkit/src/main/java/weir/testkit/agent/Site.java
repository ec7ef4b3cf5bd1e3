package weir.testkit.agent;

/**
 * A place in the code at which a shared object is touched.
 *
 * @param kind one of the constants below
 * @param isUsers true if the code is the user's, and not this library's
 * @param isPlain true if the access is one to a plain field
 * @param isChecked true if only the object's class tells that several threads may share it
 * @param what the object's type, such as {@code AtomicInteger}, or the field
 * @param operation the method, such as {@code incrementAndGet}
 * @param inClass the class of the code, with dots
 * @param file the source file
 */
public record Site(
    int kind,
    boolean isUsers,
    boolean isPlain,
    boolean isChecked,
    String what,
    String operation,
    String inClass,
    String file,
    int line) {
  public static final int READ = 0;
  public static final int WRITE = 1;

  /**
   * A change that commutes with others of its kind, such as a count of the operations that have
   * ended.
   */
  public static final int MERGE = 2;

  /** A change that lets others go on once the lock is free that the thread has. */
  public static final int SIGNAL = 3;

  public static final int OTHER = 4;

  /** As {@code MERGE}, but no other thread takes over before it. */
  public static final int RESPONSE = 5;

  /** Returns true for an access to a field, false for a call. */
  public boolean isField() {
    return what.indexOf('.') >= 0;
  }

  public String place() {
    return file.isEmpty() ? "" : file + ":" + line;
  }
}
