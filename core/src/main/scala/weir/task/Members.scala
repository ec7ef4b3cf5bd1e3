package weir.task

import scala.collection.mutable
import weir.kernel.{CallbackJoin, RunLoop, Suspend}
import weir.sync.{Awaited, WaitList}
import weir.{Outcome, Task}

/** The fibers that run for one owner, who can wait until none is left: what `Scope` and `Supervisor` have in common.
  *
  * {{{
  * Open --drain--> Draining --the last one ends--> Over
  *   |                |                             ^
  *   +----close-------+---> Closed -----------------+
  * }}}
  *
  *   - **Open**, **Draining**: a fiber may be added; while it drains, only as long as one is running.
  *   - **Closed**, **Over**: `fork` throws.
  *   - **Shared, under this object's lock**: everything. A fiber that is added before `close` is found by the cancel that
  *     follows it, and one that comes later is refused: so none is forgotten.
  *   - **The end of a fiber** is told by the fiber's last act, so none of its finalizers is still to run then.
  */
private[weir] abstract class Members extends Awaited:
  private val running = mutable.LinkedHashSet[RunLoop]()
  private val waiting = WaitList()
  private var state = Members.State.Open

  /** What the error of `add` says: what was tried, the rule, what to do. */
  protected def refusal: String

  /** Called as each ends, before it counts as gone. Holds no lock. */
  protected def ended(member: RunLoop, outcome: Outcome[Any]): Unit

  /** Called once, when none is left and none can come. Holds no lock. */
  protected def over(): Unit = ()

  /** A fiber that will run `body`, not queued yet. Throws an `IllegalStateException` if none may be added any more. */
  final def add(parent: RunLoop, body: Task[Any]): RunLoop =
    val member = RunLoop(parent.runtime, body)
    member.locals = parent.heritage
    member.register((list, lock) =>
      CallbackJoin(leave(member, _), parent.runtime, list, lock)
    ): Unit
    val refused = synchronized {
      val refused = state != Members.State.Open && state != Members.State.Draining
      if !refused then running.add(member): Unit
      refused
    }
    if refused then throw IllegalStateException(refusal)
    member

  /** Ends with the last fiber: at once if there is none. */
  final def drain(): Unit = change(Members.State.Draining): Unit

  /** Lets no more in, and asks all to stop. */
  final def cancelAll(): Unit =
    if change(Members.State.Closed) then synchronized(running.toArray).foreach(_.requestCancel())

  /** True if this call has made the change. */
  private def change(to: Members.State): Boolean =
    val (changes, ends) = synchronized {
      val changes = state.ordinal < to.ordinal
      if changes then state = to
      (changes, endIfEmpty())
    }
    if ends then tell()
    changes

  private def leave(member: RunLoop, outcome: Outcome[Any]): Unit =
    ended(member, outcome)
    if synchronized {
        running.remove(member): Unit
        endIfEmpty()
      }
    then tell()

  /** True if this call has ended it. */
  private def endIfEmpty(): Boolean =
    val ends =
      running.isEmpty && state != Members.State.Open && state != Members.State.Over
    if ends then state = Members.State.Over
    ends

  private def tell(): Unit =
    over()
    var entry = synchronized(waiting.poll())
    while entry ne null do
      entry.complete(()): Unit
      entry = synchronized(waiting.poll())

  /** Nothing, once none is left and none can come. '''Cancelled''': stops waiting. */
  final val awaitOver: Task[Unit] = new Suspend[Unit]:
    def begin(fiber: RunLoop): Any = Members.this.synchronized {
      if state == Members.State.Over then ()
      else
        val entry = WaitList.Entry(fiber, waiting, Members.this)
        waiting.add(entry)
        entry
    }

  final override def holders: Iterator[RunLoop] = synchronized(running.toArray).iterator

private[weir] object Members:
  enum State:
    case Open, Draining, Closed, Over
