package weir.sync

import weir.kernel.RunLoop

/** A number of permits, and a line of fibers that wait for some of them: the algorithm of `Semaphore` and `Mutex`.
  *
  *   - **Fair**: while anybody is in line, all others join it; and the first one in line is served first, though a later one would
  *     need fewer permits.
  *   - **Invariant**: with the lock free, the first one in line wants more than is free.
  *   - A fiber that leaves the line may be the one that held the others up, so the line is served again.
  */
private[weir] abstract class Permits(initial: Long) extends Guarded:

  // under the lock
  private var free = initial
  private val line = WaitList()
  private var wanted = 0L

  /** `n` permits have been given to `fiber`. Under the lock. */
  private[weir] def granted(fiber: RunLoop): Unit = ()

  /** Permits have been given back, or are new. Under the lock. */
  private[weir] def returned(): Unit = ()

  /** Null if `fiber` has the permits now; otherwise it stands in line. */
  final private[weir] def take(fiber: RunLoop, n: Long): Permits.Entry | Null =
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

  final private[weir] def tryTake(fiber: RunLoop, n: Long): Boolean = locked(fiber) {
    val taken = n == 0 || line.isEmpty && free >= n
    if taken then
      free -= n
      granted(fiber)
    taken
  }

  final private[weir] def give(fiber: RunLoop, n: Long): Unit = locked(fiber) {
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

  /** Gives permits to those in line, the first one first. */
  private def serve(): Unit =
    var first = line.peek.asInstanceOf[Permits.Entry | Null]
    while (first ne null) && first.n <= free do
      line.remove(first)
      wanted -= first.n
      // One that is cancelled in this moment takes nothing, and will find that it has left already.
      if hand(first, ()) then
        free -= first.n
        granted(first.fiber)
      first = line.peek.asInstanceOf[Permits.Entry | Null]

  /** What may be taken at once. */
  final private[weir] def availableNow(fiber: RunLoop): Long =
    locked(fiber)(if line.isEmpty then free else 0L)

  /** What is free, less what those in line want. */
  final private[weir] def balance(fiber: RunLoop): Long = locked(fiber)(free - wanted)

  /** `name`, and how many stand in line, for a dump: read without the lock. */
  final protected def awaitedAs(name: String): String =
    val waiters = line.size
    s"$name, for which ${if waiters == 1 then "1 waits" else s"$waiters wait"}"

private[weir] object Permits:
  final class Entry(fiber: RunLoop, list: WaitList, permits: Permits, val n: Long)
      extends GuardedEntry(fiber, list, permits)
