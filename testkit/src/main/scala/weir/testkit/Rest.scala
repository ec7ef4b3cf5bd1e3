package weir.testkit

/** The object that a virtual thread without a carrier waits for. */
private[testkit] enum Rest:
  /** It has ended, or waits for an object that the test runtime knows: a fiber, an alarm, work. */
  case Known

  /** It waits for another thread, which may be one that the test runtime does not know. */
  case Foreign

  /** It waits for a socket, a process or the like. */
  case Io

private[testkit] object Rest:
  private val io =
    List(
      "sun.nio.",
      "java.nio.channels.",
      "java.net.",
      "sun.net.",
      "jdk.internal.net.",
      "java.lang.Process"
    )

  private val parking = Set(
    "java.lang.VirtualThread",
    "java.lang.System$1",
    "java.util.concurrent.locks.LockSupport",
    "jdk.internal.misc.VirtualThreads"
  )

  def of(thread: Thread): Rest = thread.getState match
    case Thread.State.TERMINATED => Known
    case state =>
      val stack = thread.getStackTrace
      if stack.iterator.takeWhile(isJdk).exists(isIo) then Io
      else if isForMonitor(state) then Foreign
      else
        stack.find(frame => !parking(frame.getClassName)) match
          case Some(frame) if frame.getClassName.startsWith("weir.") => Known
          case Some(frame) if isSleep(frame) => Known
          case _ => Foreign

  /** Returns true if a thread without a carrier waits for a monitor, or has been given it and will
    * be queued in a moment.
    */
  def isForMonitor(thread: Thread): Boolean = isForMonitor(thread.getState)

  private def isForMonitor(state: Thread.State): Boolean =
    state == Thread.State.BLOCKED || state == Thread.State.RUNNABLE

  private def isJdk(frame: StackTraceElement): Boolean =
    val module = frame.getModuleName
    module != null && (module.startsWith("java.") || module.startsWith("jdk."))

  private def isExplorers(frame: StackTraceElement): Boolean =
    frame.getClassName.startsWith("weir.testkit.explore.") ||
      frame.getClassName.startsWith("weir.testkit.agent.")

  private def isIo(frame: StackTraceElement): Boolean = io.exists(frame.getClassName.startsWith)

  private def isSleep(frame: StackTraceElement): Boolean =
    frame.getClassName == "java.lang.Thread" && frame.getMethodName.startsWith("sleep")

  /** Returns the first frames of a blocked thread that are not the JDK's. */
  def place(thread: Thread): List[String] =
    thread.getStackTrace.toList
      .dropWhile(frame => isJdk(frame) || isExplorers(frame))
      .take(3)
      .map(frame => s"at $frame")
