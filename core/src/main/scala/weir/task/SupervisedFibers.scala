package weir.task

import scala.collection.mutable
import weir.fiber.{Awaited, CallbackJoin, Suspend, TaskFiber, Waiter}
import weir.{Outcome, Task}

/** The fibers that run for one owner, which can wait until none is left: what `Scope` and
  * `Supervisor` have in common.
  *
  * {{{
  * Open --drain--> Draining --the last one ends-> Ended
  *   |                |                             ^
  *   +--cancelAll-----+---> Closed -----------------+
  * }}}
  *
  *   - **Open**, **Draining**: a fiber may be added; in `Draining` at least one runs.
  *   - **Closed**, **Ended**: `add` throws.
  *   - **Shared, under this object's lock**: everything. A fiber that is added before the change to
  *     `Closed` is found by the cancel that follows it, and a later one is refused: so none is
  *     missed.
  *   - **The end of a fiber** is told by the fiber's last step, when all of its finalizers have
  *     run.
  */
private[weir] abstract class SupervisedFibers extends Awaited:
  private val running = mutable.LinkedHashSet[TaskFiber]()
  private var waiting: Waiter | Null = null
  private var state = SupervisedFibers.State.Open

  /** The message of the error of `add`: what was tried, the rule, what to do. */
  private[weir] def refusal: String

  /** Called as each fiber ends, while it still counts as running, without the lock. */
  private[weir] def fiberEnded(fiber: TaskFiber, outcome: Outcome[Any]): Unit

  /** Called once, when no fiber is left and none can be added, without the lock. */
  private[weir] def onEnd(): Unit = ()

  /** A new fiber that runs `body`, not queued yet. Throws an `IllegalStateException` if none may be
    * added any more: then none is made, which would never end.
    */
  final private[weir] def add(parent: TaskFiber, body: Task[Any]): TaskFiber =
    val locals = parent.localsForChild
    synchronized {
      val refused = state != SupervisedFibers.State.Open && state != SupervisedFibers.State.Draining
      if refused then throw IllegalStateException(refusal)
      val fiber = TaskFiber(parent.runtime, body)
      fiber.locals = locals
      fiber.context = parent.context
      fiber.register((list, lock) =>
        CallbackJoin(remove(fiber, _), parent.runtime, list, lock)
      ): Unit
      running.add(fiber): Unit
      fiber
    }

  /** Ends with the last fiber, at once if there is none. */
  final private[weir] def drain(): Unit = change(SupervisedFibers.State.Draining): Unit

  /** Refuses further fibers, and cancels all that run, without waiting. */
  final private[weir] def cancelAll(): Unit =
    if change(SupervisedFibers.State.Closed) then
      synchronized(running.toArray).foreach(_.requestCancel())

  /** True if this call has made the change. */
  private def change(to: SupervisedFibers.State): Boolean =
    val (changes, ends) = synchronized {
      val changes = state.ordinal < to.ordinal
      if changes then state = to
      (changes, endIfEmpty())
    }
    if ends then complete()
    changes

  private def remove(fiber: TaskFiber, outcome: Outcome[Any]): Unit =
    fiberEnded(fiber, outcome)
    if synchronized {
        running.remove(fiber): Unit
        endIfEmpty()
      }
    then complete()

  /** True if this call has ended it. */
  private def endIfEmpty(): Boolean =
    val drains =
      state == SupervisedFibers.State.Draining || state == SupervisedFibers.State.Closed
    val ends = running.isEmpty && drains
    if ends then state = SupervisedFibers.State.Ended
    ends

  private def complete(): Unit =
    onEnd()
    val waiter = synchronized(waiting)
    if waiter ne null then waiter.complete(()): Unit

  /** Nothing, once no fiber is left and none can be added. To be run once, by the owner. */
  final private[weir] val awaitEnd: Task[Unit] = new Suspend[Unit]:
    def begin(fiber: TaskFiber): Any = SupervisedFibers.this.synchronized {
      if state == SupervisedFibers.State.Ended then ()
      else
        val waiter = new Waiter(fiber):
          override def awaited: Awaited = SupervisedFibers.this
        waiting = waiter
        waiter
    }

  final override private[weir] def holders: Iterator[TaskFiber] = synchronized(
    running.toArray
  ).iterator

private[weir] object SupervisedFibers:
  enum State:
    case Open, Draining, Closed, Ended
