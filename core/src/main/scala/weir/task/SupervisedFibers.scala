package weir.task

import scala.collection.mutable
import weir.fiber.{Awaited, CallbackJoin, Suspend, TaskFiber, Waiter}
import weir.{Outcome, Task}

/** The fibers that run for one owner, which can wait until none is left. `Scope` and `Supervisor`
  * extend it.
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
  *   - **The end of a fiber** is reported by the fiber's last step, when all of its finalizers have
  *     run.
  */
private[weir] abstract class SupervisedFibers extends Awaited:
  private val running = mutable.LinkedHashSet[TaskFiber]()
  private var waiting: Waiter | Null = null
  private var state = SupervisedFibers.State.Open

  /** The message of the error of `add`: the operation, the rule, and what to do. */
  private[weir] def refusal: String

  /** Called as each fiber ends, while it still counts as running, without the lock. */
  private[weir] def fiberEnded(fiber: TaskFiber, outcome: Outcome[Any]): Unit

  /** Called once, when no fiber is left and none can be added, without the lock. */
  private[weir] def onEnd(): Unit = ()

  /** Returns a new fiber that runs `body`, and is not queued yet. Throws an `IllegalStateException`
    * if no more fibers may be added. Then no fiber is made, since it would never end.
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

  /** Ends with the last fiber, or at once if there is none. */
  final private[weir] def drain(): Unit = change(SupervisedFibers.State.Draining): Unit

  /** Refuses further fibers, and cancels all that run, without waiting. */
  final private[weir] def cancelAll(): Unit =
    if change(SupervisedFibers.State.Closed) then
      synchronized(running.toArray).foreach(_.requestCancel())

  /** Moves the state. Returns true if this call has made the change. */
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

  /** Ends it if no fiber is left and it drains or is closed. Returns true if this call has ended
    * it.
    */
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

  /** Waits until no fiber is left and none can be added. To be run once, by the owner. */
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
