package weir.testkit

/** Finds the line of the test that has called the test kit, for its errors. */
private[testkit] object Place:

  private val own =
    List("weir.testkit.TestRuntime", "weir.testkit.japi.TestRuntime", "weir.testkit.Linearizable")
  private val frameworks = List("munit.", "scala.", "java.")
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

  private def isFramework(name: String): Boolean =
    name == suite || name.startsWith(suite + "$") || frameworks.exists(name.startsWith)
