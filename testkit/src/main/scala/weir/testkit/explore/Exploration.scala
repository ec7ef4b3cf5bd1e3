package weir.testkit.explore

import java.util.concurrent.locks.ReentrantLock
import weir.Task
import weir.testkit.{ExploreLimits, ExploreReport, TestRuntime}

/** Runs explorations, each on a thread of its own, one at a time in a JVM: the hooks that explored
  * code calls exist only once.
  */
private[testkit] object Exploration:
  private val one = ReentrantLock()

  /** A step that takes this long, in real time, hangs. */
  private inline val hangNanos = 20_000_000_000L

  /** A step that takes so long hangs where the time of the exploration is over. */
  private inline val hangAfterEndNanos = 2_000_000_000L

  def run(program: Execution => Task[Any], limits: ExploreLimits): ExploreReport =
    one.lock()
    try
      Instrumentation.install()
      Instrumentation.reportPlainFields(limits.inside)
      val execution = Execution(
        StepLimits(
          limits.steps,
          plainFields = limits.plainFields,
          inside = limits.inside,
          earlyTimers = limits.earlyTimers
        )
      )
      onItsThread(execution, limits)(
        Explorer(execution, () => program(execution), limits).explore()
      )
    finally one.unlock()

  private def onItsThread[A](execution: Execution, limits: ExploreLimits)(body: => A): A =
    @volatile var result: Either[Throwable, A] | Null = null
    val thread = Thread
      .ofPlatform()
      .daemon()
      .name("weir-explore")
      .start(() =>
        result =
          try Right(body)
          catch case error: Throwable => Left(error)
      )
    val took = await(thread, execution, System.nanoTime() + limits.time.toNanos)
    result match
      case Right(value) => value
      case Left(error) => throw error
      case null =>
        val error = hangs(execution, took)
        execution.isAbandoned = true
        throw error

  /** Waits for the end of the exploration or for a step that hangs. Returns the time of a step. */
  private def await(thread: Thread, execution: Execution, end: Long): Long =
    var seen = execution.progress
    var since = System.nanoTime()
    var took = 0L
    while thread.isAlive && took < mostNanos(execution, end) do
      thread.join(100)
      if execution.progress != seen then
        seen = execution.progress
        since = System.nanoTime()
      took = System.nanoTime() - since
    took

  private def mostNanos(execution: Execution, end: Long): Long =
    if System.nanoTime() < end || execution.outsiders.isAwaiting then hangNanos
    else hangAfterEndNanos

  private def hangs(execution: Execution, nanos: Long): TestRuntime.Stuck =
    val stack = execution.stackOfCarried
    val line = stack.find(frame => Instrumentation.isTold(frame.getClassName))
    val at = line.fold("")(frame => s" in ${frame.getFileName}:${frame.getLineNumber}")
    TestRuntime.Stuck(
      s"A step of the program$at has not ended within ${nanos / 1_000_000_000} s of real time. " +
        "It computes, waits for an event outside of the JVM, or spins until another fiber acts, " +
        "which cannot run before the step ends. A spin is not recognized in code that is not " +
        "explored, such as that of libraries. The thread of that step goes on.\n" +
        s"${stack.map(frame => s"  at $frame").mkString("\n")}"
    )
