package weir.sync

import weir.Channel.{Clause, Closed}
import weir.fiber.{Awaited, Exchange, TaskFiber, WaitList, Waiter}
import weir.sync.ChannelCore.{NotReady, isNotReady}

/** Waits at several channels at once, until the first of its clauses can be completed.
  *
  *   1. The fiber checks one clause after the other, each under the lock of its channel alone. The
  *      first one that is ready is completed, and the others are not.
  *   1. If none is ready, it takes the locks of all its channels, and checks again. If still none
  *      is ready, it adds a `SelectEntry` to a list of each of them, releases the locks, and waits
  *      with one waiter, the `SelectWaiter`.
  *   1. A fiber that finds one of the entries at a channel completes the one waiter. Only one fiber
  *      can; to all others, the select's entries are waiters whose wait has ended.
  *   1. The fiber that has completed it removes the other entries from their lists (`dequeue`),
  *      once it holds no lock. A select that is cancelled does so itself.
  *
  * **Two selects that meet.** No fiber ever has to complete two waiters at once. A fiber that looks
  * for an entry does not wait yet, so it has no entry of its own that another fiber could find
  * meanwhile: it adds its entries under all the locks under which it has looked. For the same
  * reason no clause can become ready unseen between the second check and the wait.
  *
  * **Deadlock.** A select takes its locks in the order of `ChannelCore.id`. Every other operation
  * holds one lock at a time, and `dequeue` is called with none held.
  *
  * **A value that is lost.** The result is in the waiter before the fiber runs again, and no code
  * runs between the two, so a cancel cannot drop the result. For that reason, the other fiber
  * removes the entries, and a result names its clause instead of being passed through a function.
  *
  * After Go's select. It differs in that clauses are tried in order, and that the other fiber
  * removes the entries.
  */
private[weir] final class Select[R](clauses: Array[Clause[Any]]) extends Exchange[R]:
  private val inLockOrder = clauses.map(_.channel).sortBy(_.id)

  def begin(fiber: TaskFiber): Any =
    val result = Select.now(clauses)
    if isNotReady(result) then lookAgain(fiber) else result

  private def lookAgain(fiber: TaskFiber): Any =
    var matched: SelectWaiter | Null = null
    val result = locked(0) {
      var i = 0
      var result: Any = NotReady
      while i < clauses.length && isNotReady(result) do
        result = clauses(i).now()
        i += 1
      if isNotReady(result) then enqueue(fiber)
      else
        matched = clauses(i - 1).channel.takeMatched()
        result
    }
    if matched ne null then matched.dequeue()
    result

  private def locked(from: Int)(body: => Any): Any =
    if from == inLockOrder.length then body
    else inLockOrder(from).synchronized(locked(from + 1)(body))

  private def enqueue(fiber: TaskFiber): SelectWaiter =
    val waiter = SelectWaiter(fiber, clauses)
    waiter.enqueue()
    waiter

private[weir] object Select:

  /** Does the first clause that is ready and returns its result, or returns `NotReady`. */
  def now(clauses: Array[Clause[Any]]): Any =
    var i = 0
    var result: Any = NotReady
    while i < clauses.length && isNotReady(result) do
      val clause = clauses(i)
      result = clause.channel.locked(clause.now())
      i += 1
    result

/** A fiber that waits at the channels of all its clauses. */
private[weir] final class SelectWaiter(fiber: TaskFiber, clauses: Array[Clause[Any]])
    extends Waiter(fiber),
      Awaited:
  private val entries = clauses.map(SelectEntry(_, this))

  /** Adds the entries. Must be called with the locks of all channels held. */
  def enqueue(): Unit = entries.foreach(entry => entry.list.add(entry))

  /** Removes the entries. Must be called with no lock held. */
  def dequeue(): Unit = entries.foreach(_.abandon())

  override def abandon(): Unit = dequeue()

  override def awaited: Awaited | Null = this

  private[weir] def awaitedAs: String =
    clauses.map(_.channel.awaitedAs).mkString("Channel.select, for the first of: ", "; ", "")

/** The entry of a select in a list of one channel. It stands for its clause: the fiber is suspended
  * in the `SelectWaiter`, never in this waiter.
  */
private[weir] final class SelectEntry(clause: Clause[Any], val select: SelectWaiter)
    extends ChannelWaiter(select.fiber, clause.list, clause.channel):
  def list: WaitList = clause.list
  def offered: Any = clause.offered
  def completeWith(value: Any): Boolean = select.complete(clause.result(value))
  def end(closed: Closed): Boolean =
    try select.complete(clause.atEnd(closed))
    catch case error: Throwable => select.fail(error)
