package weir.task

import java.util.concurrent.atomic.AtomicInteger
import scala.annotation.tailrec
import weir.Task
import weir.fiber.{Exchange, Mapped, Sleep, Suspend, TaskFiber}
import weir.group.{ChildGroup, Runner}

/** Runs two children, of which the first to end wins.
  *
  * The other child is cancelled, and its finalizers have run, before the race ends. A child that
  * cancels itself leaves the race to the other one. If `cancelEnds`, it instead cancels the other
  * one, and then the parent, unless the other has ended with a value or an error nevertheless.
  *
  * If a sleep has won, and the other child is an `Exchange` that has ended with a value, that value
  * wins. Then both have ended at the same time, since the cancel came too late to end the exchange.
  * Losing the end of a sleep does no harm, but the value may be an item that was taken. So
  * `race(queue.take, sleep)` loses no item.
  */
private[weir] final class Race[A, B](left: Task[A], right: Task[B], cancelEnds: Boolean)
    extends Suspend[Either[A, B]]:
  def begin(fiber: TaskFiber): Any = RaceGroup(left, right, cancelEnds).start(fiber)

private final class RaceGroup(left: Task[Any], right: Task[Any], cancelEnds: Boolean)
    extends ChildGroup(limit = 2):
  private val taken = AtomicInteger(0)
  private val cancelled = AtomicInteger(0)

  // each written by the child's runner, before it ends
  private var leftWon, rightWon: ChildGroup.Stop | Null = null

  def take(runner: Runner): Boolean =
    runner.index = taken.getAndIncrement()
    runner.index < 2

  def hasMore: Boolean = taken.get < 2

  def child(runner: Runner): Task[Any] = if runner.index == 0 then left else right

  def store(runner: Runner, value: Any): Unit =
    val won = ChildGroup.Stop.Won(if runner.index == 0 then Left(value) else Right(value))
    if runner.index == 0 then leftWon = won else rightWon = won
    stop(won, by = runner)

  override protected def ending: ChildGroup.Stop | Null =
    val first = stopped
    if (first eq leftWon) && (rightWon ne null) && isExchangeBeside(right, left) then rightWon
    else if (first eq rightWon) && (leftWon ne null) && isExchangeBeside(left, right) then leftWon
    else first

  private def isExchangeBeside(task: Task[Any], winner: Task[Any]): Boolean =
    unmapped(task).isInstanceOf[Exchange[?]] && unmapped(winner).isInstanceOf[Sleep]

  @tailrec private def unmapped(task: Task[Any]): Task[Any] = task match
    case map: Mapped[?, ?] => unmapped(map.source)
    case other => other

  override def awaitedAs: String = "the first of two tasks to end"

  override def childCancelled(): Unit =
    if cancelled.incrementAndGet() == 2 || cancelEnds then stop(ChildGroup.Stop.Cancelled)

  override protected def errorOverCancel: Boolean = cancelEnds
  override protected def endsByCancelAlone: Boolean = cancelEnds

  def result: Any = throw IllegalStateException("A race ends with a winner, an error or a cancel.")
