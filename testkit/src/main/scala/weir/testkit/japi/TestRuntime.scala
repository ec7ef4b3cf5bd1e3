package weir.testkit.japi

import java.time.Duration
import weir.japi.Task
import weir.testkit.TestRuntime as ScalaTestRuntime

/** Runs tasks of tests in Java, on a clock that stands still while anything can run, and then moves
  * at once to the next alarm: see `weir.testkit.TestRuntime`.
  */
object TestRuntime:

  /** The value of `task`.
    *
    * **Fails** with the error of `task`; with `TestRuntime.Stuck` if it waits for something that
    * cannot happen; with `TestRuntime.Leaked` if it has ended, and fibers that it has started have
    * not.
    */
  @throws[Exception]
  def run[A](task: Task[A]): A = ScalaTestRuntime.run(task.asScala)

  /** As `run`, and the time that has gone by on the test's clock. */
  @throws[Exception]
  def timed[A](task: Task[A]): Timed[A] =
    val (value, took) = ScalaTestRuntime.timed(task.asScala)
    Timed(value, Duration.ofNanos(took.toNanos))

/** A value, and the time that it took. */
final class Timed[A] private[japi] (val value: A, val took: Duration)
