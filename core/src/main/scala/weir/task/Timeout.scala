package weir.task

import java.util.concurrent.TimeoutException
import scala.concurrent.duration.FiniteDuration
import weir.Task
import weir.kernel.{RunLoop, Suspend}
import weir.runtime.Alarm

/** One child, and an alarm that stops it. */
private[weir] final class Timeout[A](source: Task[A], limit: FiniteDuration) extends Suspend[A]:
  def begin(fiber: RunLoop): Any = TimeoutClaims(source, limit, fiber).start(fiber)

private final class TimeoutClaims(source: Task[Any], timeout: FiniteDuration, fiber: RunLoop)
    extends Claims(limit = 1):
  private val timers = fiber.runtime.timers
  private var claimed = false

  private val alarm = new Alarm(timers, timeout.toNanos):
    def ring(): Unit =
      stop(Claims.Stop.Failed(TimeoutException(s"The task did not end within $timeout.")))
  timers.add(alarm)

  def claim(runner: Runner): Boolean =
    val first = !claimed
    claimed = true
    first

  override protected def over(): Unit = timers.remove(alarm): Unit

  override def awaitedAs: String = s"a task that has a timeout of $timeout"

  def hasMore: Boolean = false
  def child(runner: Runner): Task[Any] = source
  def store(runner: Runner, value: Any): Unit = stop(Claims.Stop.Won(value), by = runner)
  def result: Any = throw IllegalStateException("A timeout ends with a value or an error.")
