package weir.sync

import weir.fiber.{TaskFiber, WaitList}
import weir.metrics.{Metric, NamedMetrics}

/** A number of permits, and the fibers that wait for some of them: the algorithm of `Semaphore` and
  * `Mutex`.
  *
  *   - **Fair**: while a fiber waits, those that come later join the line. The first in line is
  *     served first, though a later one may need fewer permits.
  *   - **Invariant**: with the lock free, the first in line wants more permits than are free.
  *   - **A cancelled waiter** has no permits: either `leave` removes it from the line, or `serve`
  *     has removed it and found by `hand` that it was cancelled. It may have been the first in
  *     line, and have wanted more than those after it, so `leave` serves the line. If the permits
  *     were handed over before the cancel, the wait ends with them; `WithPermits` returns them.
  */
private[weir] abstract class Permits(private[weir] val initial: Long) extends Guarded:

  // under the lock
  private var free = initial
  private val line = WaitList()
  private var wanted = 0L

  /** Called under the lock when `fiber` has been given permits. */
  private[weir] def granted(fiber: TaskFiber): Unit = ()

  /** Called under the lock when permits have been returned, or added. */
  private[weir] def returned(): Unit = ()

  /** Takes permits for `fiber` and returns null, or else returns its entry in the line. */
  final private[weir] def take(fiber: TaskFiber, n: Long): Permits.Entry | Null =
    if n == 0 then null
    else
      locked(fiber) {
        if line.isEmpty && free >= n then
          free -= n
          granted(fiber)
          null
        else
          val entry = Permits.Entry(fiber, line, this, n)
          line.add(entry)
          wanted += n
          entry
      }

  final private[weir] def tryTake(fiber: TaskFiber, n: Long): Boolean = locked(fiber) {
    val taken = n == 0 || line.isEmpty && free >= n
    if taken then
      free -= n
      granted(fiber)
    taken
  }

  final private[weir] def give(fiber: TaskFiber, n: Long): Unit = locked(fiber) {
    free += n
    returned()
    serve()
  }

  final private[weir] def leave(entry: GuardedEntry): Unit = locked(entry.fiber) {
    if entry.isListed then
      entry.leaveList()
      wanted -= entry.asInstanceOf[Permits.Entry].n
      serve()
  }

  /** Under the lock: gives permits to the fibers in line, as far as there are enough. */
  private def serve(): Unit =
    var first = line.peek.asInstanceOf[Permits.Entry | Null]
    while (first ne null) && first.n <= free do
      line.remove(first)
      wanted -= first.n
      // If it is cancelled at this moment, it takes no permits; its `leave` finds it not listed.
      if hand(first, ()) then
        free -= first.n
        granted(first.fiber)
      first = line.peek.asInstanceOf[Permits.Entry | Null]

  /** Returns the number of permits that can be taken without waiting. */
  final private[weir] def availableNow(fiber: TaskFiber): Long =
    locked(fiber)(if line.isEmpty then free else 0L)

  /** Returns the number of free permits minus the number that the fibers in line want. */
  final private[weir] def balance(fiber: TaskFiber): Long = locked(fiber)(free - wanted)

  /** Returns the number of free permits, read without the lock. */
  final private[weir] def freeNow: Long = free

  /** Returns the number of fibers that wait, read without the lock. */
  final private[weir] def waitingNow: Int = line.size

  final private[weir] def figures(kind: String, named: NamedMetrics): Vector[Metric] =
    named.permits(kind, free, line.size)

  /** Returns `name` and the number of fibers that wait, for a dump. Reads them without the lock. */
  final private[weir] def awaitedBy(name: String): String =
    val waiters = line.size
    s"$name, for which ${if waiters == 1 then "1 waits" else s"$waiters wait"}"

private[weir] object Permits:
  final class Entry(fiber: TaskFiber, list: WaitList, permits: Permits, val n: Long)
      extends GuardedEntry(fiber, list, permits)
