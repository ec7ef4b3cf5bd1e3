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

  def run(program: Execution => Task[Any], limits: ExploreLimits): ExploreReport =
    one.lock()
    try
      Instrumentation.install()
      Instrumentation.reportPlainFields(limits.inside)
      val execution = Execution(
        StepLimits(limits.steps, plainFields = limits.plainFields, inside = limits.inside)
      )
      onItsThread(execution)(Explorer(execution, () => program(execution), limits).explore())
    finally one.unlock()

  private def onItsThread[A](execution: Execution)(body: => A): A =
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
    await(thread, execution)
    result match
      case Right(value) => value
      case Left(error) => throw error
      case null => throw hangs(execution)

  private def await(thread: Thread, execution: Execution): Unit =
    var seen = execution.progress
    var since = System.nanoTime()
    while thread.isAlive && System.nanoTime() - since < hangNanos do
      thread.join(100)
      if execution.progress != seen then
        seen = execution.progress
        since = System.nanoTime()

  private def hangs(execution: Execution): TestRuntime.Stuck =
    val stack = execution.stackOfCarried.map(frame => s"\n  at $frame").mkString
    TestRuntime.Stuck(
      s"A step of the program has not ended within ${hangNanos / 1_000_000_000} s of real time. " +
        s"It computes, or waits for something outside of the JVM.$stack"
    )
