package weir.task

import java.util.concurrent.atomic.AtomicInteger
import scala.annotation.tailrec
import weir.Task
import weir.kernel.{Map, RunLoop, Sleep, Suspend}

/** Two children, of which the first to end wins; the other is cancelled, and its finalizers have run, before
  * the race ends. A child that cancels itself leaves the race to the other one.
  *
  * A sleep that has won gives the race to a value of the other one that has come all the same: an alarm is nothing to lose, and the value
  * may be an item that was taken. So `race(queue.take, sleep)` loses none.
  */
private[weir] final class Race[A, B](left: Task[A], right: Task[B]) extends Suspend[Either[A, B]]:
  def begin(fiber: RunLoop): Any = RaceClaims(left, right).start(fiber)

private final class RaceClaims(left: Task[Any], right: Task[Any]) extends Claims(limit = 2):
  private val claimed = AtomicInteger(0)
  private val canceled = AtomicInteger(0)

  // each by the child's runner, before it exits
  private var leftWon, rightWon: Claims.Stop | Null = null

  def claim(runner: Runner): Boolean =
    runner.index = claimed.getAndIncrement()
    runner.index < 2

  def hasMore: Boolean = claimed.get < 2

  def child(runner: Runner): Task[Any] = if runner.index == 0 then left else right

  def store(runner: Runner, value: Any): Unit =
    val won = Claims.Stop.Won(if runner.index == 0 then Left(value) else Right(value))
    if runner.index == 0 then leftWon = won else rightWon = won
    stop(won, by = runner)

  override protected def verdict: Claims.Stop | Null =
    val first = stopped
    if (first eq leftWon) && (rightWon ne null) && isSleep(left) && !isSleep(right) then rightWon
    else if (first eq rightWon) && (leftWon ne null) && isSleep(right) && !isSleep(left) then
      leftWon
    else first

  @tailrec private def isSleep(task: Task[Any]): Boolean = task match
    case _: Sleep => true
    case map: Map[?, ?] => isSleep(map.source)
    case _ => false

  override def awaitedAs: String = "the first of two tasks to end"

  override def childCanceled(): Unit =
    if canceled.incrementAndGet() == 2 then stop(Claims.Stop.Canceled)

  def result: Any = throw IllegalStateException("A race ends with a winner, an error or a cancel.")
