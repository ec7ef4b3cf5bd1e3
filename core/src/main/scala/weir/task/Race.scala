package weir.task

import java.util.concurrent.atomic.AtomicInteger
import weir.Task
import weir.kernel.{RunLoop, Suspend}

/** Two children, of which the first to end wins; the other is cancelled, and its finalizers have run, before
  * the race ends. A child that cancels itself leaves the race to the other one.
  */
private[weir] final class Race[A, B](left: Task[A], right: Task[B]) extends Suspend[Either[A, B]]:
  def begin(fiber: RunLoop): Any = RaceClaims(left, right).start(fiber)

private final class RaceClaims(left: Task[Any], right: Task[Any]) extends Claims(limit = 2):
  private val claimed = AtomicInteger(0)
  private val canceled = AtomicInteger(0)

  def claim(runner: Runner): Boolean =
    runner.index = claimed.getAndIncrement()
    runner.index < 2

  def hasMore: Boolean = claimed.get < 2

  def child(runner: Runner): Task[Any] = if runner.index == 0 then left else right

  def store(runner: Runner, value: Any): Unit =
    stop(Claims.Stop.Won(if runner.index == 0 then Left(value) else Right(value)), by = runner)

  override def awaitedAs: String = "the first of two tasks to end"

  override def childCanceled(): Unit =
    if canceled.incrementAndGet() == 2 then stop(Claims.Stop.Canceled)

  def result: Any = throw IllegalStateException("A race ends with a winner, an error or a cancel.")
