package weir.sync

import weir.Channel.{Clause, Closed, NotReady, Party, isNotReady}
import weir.kernel.{RunLoop, Suspend, Waiter}

/** Waits at several channels at once, for the first of its clauses that can happen.
  *
  *   1. It looks at one clause after the other, each under the lock of its channel alone. Where one can happen, it does, and
  *      that is all.
  *   1. If none can, it takes the locks of all its channels, looks again, and if still none can, stands in the list of each
  *      of them with a `Standing`. Then it lets go of the locks and waits with one waiter, `Waiting`.
  *   1. Whoever finds a `Standing` at a channel completes the one waiter, which only one can. For all others its standings
  *      are parties that are gone.
  *   1. That one, once it holds no lock, takes the rest of the standings out of their lists (`leave`). So does the fiber
  *      itself when it is cancelled.
  *
  * '''Two selects that meet.''' Nobody ever has to claim two waiters at once: who looks for a standing is not waiting yet. It
  * has no standing of its own that another could find meanwhile, since it makes them under all of the locks under which it
  * has looked. That is also why no clause can become ready unseen between its look and its wait.
  *
  * '''Deadlock.''' All locks are taken in the order of `Channel.id`; every other operation holds one at a time; `leave` is
  * called with none.
  *
  * '''A value that nobody gets.''' The result is in the waiter before the fiber goes on, and nothing stands between the two
  * where a cancel could drop it; so taking the standings out is left to the other side, and a result names its clause
  * instead of passing through a function.
  *
  * After Go's select; differs in that clauses are tried in order, and that the other side removes the standings.
  */
private[weir] final class Select[R](clauses: Array[Clause[Any]]) extends Suspend[R]:
  private val inLockOrder = clauses.map(_.channel).sortBy(_.id)

  def begin(fiber: RunLoop): Any =
    val result = Select.now(clauses)
    if isNotReady(result) then lookAgain(fiber) else result

  private def lookAgain(fiber: RunLoop): Any =
    var met: Select.Waiting | Null = null
    val result = locked(0) {
      var i = 0
      var result: Any = NotReady
      while i < clauses.length && isNotReady(result) do
        result = clauses(i).now()
        i += 1
      if isNotReady(result) then stand(fiber)
      else
        met = clauses(i - 1).channel.takeMet()
        result
    }
    if met ne null then met.leave()
    result

  private def locked(from: Int)(body: => Any): Any =
    if from == inLockOrder.length then body
    else inLockOrder(from).synchronized(locked(from + 1)(body))

  private def stand(fiber: RunLoop): Select.Waiting =
    val waiting = Select.Waiting(fiber, clauses)
    waiting.stand()
    waiting

private[weir] object Select:

  /** The result of the first clause that can happen, or `NotReady`. */
  def now(clauses: Array[Clause[Any]]): Any =
    var i = 0
    var result: Any = NotReady
    while i < clauses.length && isNotReady(result) do
      val clause = clauses(i)
      result = clause.channel.locked(clause.now())
      i += 1
    result

  /** A fiber that waits at all channels of its clauses. */
  final class Waiting(fiber: RunLoop, clauses: Array[Clause[Any]]) extends Waiter(fiber), Awaited:
    private val standings = clauses.map(Standing(_, this))

    /** With the locks of all channels held. */
    def stand(): Unit = standings.foreach(standing => standing.list.add(standing))

    /** With no lock held. */
    def leave(): Unit = standings.foreach(_.abandon())

    override def abandon(): Unit = leave()

    override def awaited: Awaited | Null = this

    def awaitedAs: String =
      clauses.map(_.channel.awaitedAs).mkString("Channel.select, for the first of: ", "; ", "")

  /** The place of a select in the list of one channel. Never suspended itself. */
  final class Standing(clause: Clause[Any], val select: Waiting)
      extends Party(select.fiber, clause.list, clause.channel):
    def list: WaitList = clause.list
    def offered: Any = clause.offered
    def happen(value: Any): Boolean = select.complete(clause.happened(value))
    def close(closed: Closed): Boolean =
      try select.complete(clause.ended(closed))
      catch case error: Throwable => select.fail(error)
