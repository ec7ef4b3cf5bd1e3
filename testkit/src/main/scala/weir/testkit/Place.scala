package weir.testkit

import weir.fiber.TaskFiber
import weir.trace.ErrorTrace

/** Finds the lines of the test, for the errors of the test kit. */
private[testkit] object Place:

  private val own =
    List("weir.testkit.TestRuntime", "weir.testkit.japi.TestRuntime", "weir.testkit.Linearizable")
  private val frameworks = List("munit.", "org.junit.", "scala.", "java.", "jdk.")
  private val suite = "weir.testkit.WeirFunSuite"

  /** Returns `file:line: ` of the code that has called a method of `TestRuntime`. Returns an empty
    * text if that is a framework, such as `WeirFunSuite`, which knows the test's place itself.
    */
  def ofCaller: String =
    val caller = StackWalker.getInstance.walk(frames =>
      frames
        .dropWhile(frame => frame.getClassName == getClass.getName)
        .dropWhile(frame => own.exists(frame.getClassName.startsWith))
        .findFirst
    )
    if caller.isEmpty || isFramework(caller.get.getClassName) then ""
    else s"${caller.get.getFileName}:${caller.get.getLineNumber}: "

  /** Returns the lines of `frames` that the user has written: neither those of the test kit, nor
    * those of the framework that runs the test. Returns the first frame if all are.
    */
  def ofUser(frames: Array[StackTraceElement]): Array[StackTraceElement] =
    val called = frames.dropWhile(isOwn).takeWhile(isUsers)
    if called.isEmpty then frames.take(1) else called

  /** Returns true for a frame of code that the user has written. */
  def isUsers(frame: StackTraceElement): Boolean =
    !isOwn(frame) && !isFramework(frame.getClassName)

  /** Returns the first lines of the user's code at which `fiber` waits. */
  def ofWait(fiber: TaskFiber): List[StackTraceElement] =
    ErrorTrace
      .of(Array.empty, fiber)
      .dropRight(1) // names the fiber
      .filter(isUsers)
      .take(3)
      .toList

  /** Returns true for code of the test kit: the package is not enough, since tests may be in it. */
  private def isOwn(frame: StackTraceElement): Boolean =
    frame.getClassName.startsWith("weir.") && {
      try ownSources(sourceOf(Class.forName(frame.getClassName, false, getClass.getClassLoader)))
      catch case _: ClassNotFoundException | _: LinkageError => false
    }

  private val ownSources = Set(sourceOf(getClass), sourceOf(classOf[weir.Task[?]]))

  private def sourceOf(of: Class[?]): String =
    String.valueOf(of.getProtectionDomain.getCodeSource)

  private def isFramework(name: String): Boolean =
    name == suite || name.startsWith(suite + "$") || frameworks.exists(name.startsWith)
