package weir.task

import java.util.concurrent.TimeoutException
import scala.concurrent.duration.FiniteDuration
import weir.Task
import weir.fiber.{Fail, Handle, Suspend, TaskFiber}
import weir.group.{ChildGroup, Failures, Runner}
import weir.runtime.AlarmAfter
import weir.runtime.DurationText

/** One child that an alarm stops. */
private[weir] object Timeout:

  def apply[A](source: Task[A], limit: FiniteDuration): Task[A] = TimeLimit(source, limit, null)

  /** Runs `fallback` if the alarm has stopped the child. A frame that handles errors lets a value
    * pass without a check for a cancel, so that an item that was taken from a queue in time is not
    * lost here.
    */
  def orElse[A](source: Task[A], limit: FiniteDuration, fallback: Task[A]): Task[A] =
    Handle(
      TimeLimit(source, limit, OutOfTime),
      error => if error eq OutOfTime then fallback else Fail(error)
    )

  /** The error of the alarm. Only the `Handle` directly around the `TimeLimit` sees it, so one
    * object for all is enough.
    */
  private object OutOfTime
      extends Throwable("The time is over.", null, false, false),
        Failures.Internal

/** `error` is the error that the alarm fails with; null for a `TimeoutException`. */
private final class TimeLimit[A](source: Task[A], limit: FiniteDuration, error: Throwable | Null)
    extends Suspend[A]:
  def begin(fiber: TaskFiber): Any = TimeoutGroup(source, limit, error, fiber).start(fiber)

private final class TimeoutGroup(
    source: Task[Any],
    timeout: FiniteDuration,
    error: Throwable | Null,
    fiber: TaskFiber
) extends ChildGroup(limit = 1):
  private val timers = fiber.runtime.timers
  private var taken = false

  /** The child's value. Written by the runner before it ends. */
  private var value: ChildGroup.Stop | Null = null

  private val alarm = new AlarmAfter(timers, timeout.toNanos):
    def ring(): Unit =
      val reason =
        if error ne null then error
        else TimeoutException(s"The task did not end within ${DurationText(timeout)}.")
      stop(ChildGroup.Stop.Failed(reason))
  timers.add(alarm, fiber.preferredShard)

  def take(runner: Runner): Boolean =
    val first = !taken
    taken = true
    first

  override protected def onEnd(): Unit = timers.remove(alarm): Unit

  override def awaitedAs: String = s"a task that has a timeout of ${DurationText(timeout)}"

  def hasMore: Boolean = false
  def child(runner: Runner): Task[Any] = source

  def store(runner: Runner, value: Any): Unit =
    val won = ChildGroup.Stop.Won(value)
    this.value = won
    stop(won, by = runner)

  /** Returns the child's value if there is one, although the alarm has rung: it may be an item that
    * was taken.
    */
  override protected def ending: ChildGroup.Stop | Null = if value ne null then value else stopped

  def result: Any = throw IllegalStateException("A timeout ends with a value or an error.")
