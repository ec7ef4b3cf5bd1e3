package weir.task

import weir.fiber.{Awaited, CallbackJoin, Suspend, TaskFiber, WaitList, Waiter}
import weir.trace.ErrorTrace
import weir.{Fiber, Outcome, Task}

/** Runs two fibers, and returns the outcome of the first that ends. The other one continues. */
private[weir] final class RacePair[A, B](left: Task[A], right: Task[B])
    extends Suspend[Either[(Outcome[A], Fiber[B]), (Fiber[A], Outcome[B])]]:
  def begin(fiber: TaskFiber): Any =
    val first = fiber.fork(left)
    val second =
      try fiber.fork(right)
      catch
        case error: Throwable => // nobody would ever cancel the first
          first.requestCancel()
          throw error
    val wait = PairWaiter(fiber, first, second)
    wait.watch()
    wait

/** The wait for the end of either fiber, whichever comes first. */
private final class PairWaiter(parent: TaskFiber, left: TaskFiber, right: TaskFiber)
    extends Waiter(parent),
      Awaited:

  // shared: written by the parent, read by a fiber that ends. A fiber that misses the write leaves
  // a small object in the other fiber's list until that ends.
  @volatile private var joinsRight: WaitList.Entry | Null = null
  @volatile private var joinsLeft: WaitList.Entry | Null = null

  def watch(): Unit =
    joinsLeft = join(left, leftEnded)
    if isOpen then joinsRight = join(right, rightEnded)

  private def join(child: TaskFiber, ended: Outcome[Any] => Unit): WaitList.Entry | Null =
    child.register((list, lock) => CallbackJoin(ended, parent.runtime, list, lock)) match
      case entry: WaitList.Entry => entry
      case outcome =>
        ended(outcome.asInstanceOf[Outcome[Any]])
        null

  private def leftEnded(outcome: Outcome[Any]): Unit =
    passTrace(outcome, left)
    if complete(Left((outcome, right))) then leave(joinsRight)

  private def rightEnded(outcome: Outcome[Any]): Unit =
    passTrace(outcome, right)
    if complete(Right((left, outcome))) then leave(joinsLeft)

  /** As a join does, before the parent can have the outcome. */
  private def passTrace(outcome: Outcome[Any], child: TaskFiber): Unit = outcome match
    case Outcome.Failed(error) if isOpen => ErrorTrace.pass(error, parent, from = child)
    case _ => ()

  private def leave(entry: WaitList.Entry | Null): Unit = if entry ne null then entry.abandon()

  override def awaited: Awaited = this
  def awaitedAs: String = "the end of one of two fibers"
  override def holders: Iterator[TaskFiber] = Iterator(left, right)

  /** Cancels both at the same time, and waits for both. */
  override val cancelHook: Task[Unit] = Task.defer {
    left.requestCancel()
    right.requestCancel()
    left.cancel.andThen(right.cancel)
  }
