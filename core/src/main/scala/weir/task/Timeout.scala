package weir.task

import java.util.concurrent.TimeoutException
import scala.concurrent.duration.FiniteDuration
import weir.Task
import weir.kernel.{Fail, Handle, RunLoop, Suspend}
import weir.runtime.AlarmAfter

/** One child, and an alarm that stops it. */
private[weir] object Timeout:

  def apply[A](source: Task[A], limit: FiniteDuration): Task[A] = TimeLimit(source, limit, null)

  /** `fallback` where the alarm has stopped the child. A frame that handles errors lets a value pass without a look for a
    * cancel, so that a value that was taken out of a queue in time is not lost here.
    */
  def orElse[A](source: Task[A], limit: FiniteDuration, fallback: Task[A]): Task[A] =
    Handle(
      TimeLimit(source, limit, OutOfTime),
      error => if error eq OutOfTime then fallback else Fail(error)
    )

  /** Stands directly under the one `Handle` that waits for it, so one for all is enough. */
  private object OutOfTime
      extends Throwable("The time is over.", null, false, false),
        Failures.Internal

/** `error` is what the alarm fails with; null for a `TimeoutException`. */
private final class TimeLimit[A](source: Task[A], limit: FiniteDuration, error: Throwable | Null)
    extends Suspend[A]:
  def begin(fiber: RunLoop): Any = TimeoutClaims(source, limit, error, fiber).start(fiber)

private final class TimeoutClaims(
    source: Task[Any],
    timeout: FiniteDuration,
    error: Throwable | Null,
    fiber: RunLoop
) extends Claims(limit = 1):
  private val timers = fiber.runtime.timers
  private var claimed = false

  // the runner's
  private var value: Claims.Stop | Null = null

  private val alarm = new AlarmAfter(timers, timeout.toNanos):
    def ring(): Unit =
      val reason =
        if error ne null then error
        else TimeoutException(s"The task did not end within $timeout.")
      stop(Claims.Stop.Failed(reason))
  timers.add(alarm)

  def claim(runner: Runner): Boolean =
    val first = !claimed
    claimed = true
    first

  override protected def over(): Unit = timers.remove(alarm): Unit

  override def awaitedAs: String = s"a task that has a timeout of $timeout"

  def hasMore: Boolean = false
  def child(runner: Runner): Task[Any] = source

  def store(runner: Runner, value: Any): Unit =
    val won = Claims.Stop.Won(value)
    this.value = won
    stop(won, by = runner)

  /** The child's value, if it has come nevertheless when the alarm rang: it may be an item that was taken. */
  override protected def verdict: Claims.Stop | Null = if value ne null then value else stopped

  def result: Any = throw IllegalStateException("A timeout ends with a value or an error.")
