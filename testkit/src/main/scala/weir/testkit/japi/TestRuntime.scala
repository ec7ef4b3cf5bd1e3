package weir.testkit.japi

import java.time.Duration
import weir.japi.Task
import weir.testkit.TestRuntime as ScalaTestRuntime

/** Runs tasks of tests in Java, with a clock that stands still while anything can run, and then
  * jumps to the next alarm: see `weir.testkit.TestRuntime`.
  */
object TestRuntime:

  /** Runs `task` and returns its value.
    *
    * **Fails** with the error of `task`. Fails with `TestRuntime.Stuck` if `task` waits for
    * something that cannot happen. Fails with `TestRuntime.Leaked` if `task` has ended, but fibers
    * that it has started have not.
    */
  @throws[Exception]
  def run[A](task: Task[A]): A = ScalaTestRuntime.run(task.asScala)

  /** As `run`, but also returns the time that has passed on the test's clock. */
  @throws[Exception]
  def timed[A](task: Task[A]): Timed[A] =
    val (took, value) = ScalaTestRuntime.timed(task.asScala)
    Timed(value, Duration.ofNanos(took.toNanos))

/** A value, and the time that it took. */
final class Timed[A] private[japi] (val value: A, val took: Duration)
