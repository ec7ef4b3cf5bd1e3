package weir

import weir.kernel.{RunLoop, Suspend}
import weir.sync.{Guarded, GuardedEntry, WaitList}

/** A place where a number of fibers wait for each other; when all have come they go on, and it begins anew. */
final class CyclicBarrier private (parties: Int) extends Guarded:

  // under the lock
  private val line = WaitList()

  /** Nothing, once as many fibers as the barrier is for have come to it, this one among them. '''Waits''' for the others.
    * '''Cancelled''' while it waits: as if it had not come, so one more has to come. A cancel that comes together with the last
    * one who is missing may fall after that: then the others go on.
    */
  val await: Task[Unit] = new Suspend[Unit]:
    def begin(fiber: RunLoop): Any = locked(fiber) {
      if line.size + 1 < parties then
        val entry = GuardedEntry(fiber, line, CyclicBarrier.this)
        line.add(entry)
        entry
      else
        var entry = line.poll()
        while entry ne null do
          hand(entry, ()): Unit
          entry = line.poll()
        ()
    }

  /** How many have to come until those who wait go on. */
  def missing: Task[Int] = new Suspend[Int]:
    def begin(fiber: RunLoop): Any = locked(fiber)(parties - line.size)

  private[weir] def leave(entry: GuardedEntry): Unit = locked(entry.fiber)(entry.leaveList())

  def awaitedAs: String =
    s"CyclicBarrier($parties), to which ${parties - line.size} have still to come"

object CyclicBarrier:
  /** A new one for so many fibers. '''Fails''' with an `IllegalArgumentException` if that is below 1. */
  def apply(parties: Int): Task[CyclicBarrier] = Task.delay(unsafe(parties))

  /** A new one, made at once, for use outside of tasks. */
  def unsafe(parties: Int): CyclicBarrier =
    require(
      parties >= 1,
      s"CyclicBarrier: the number of fibers was $parties. It must be at least 1."
    )
    new CyclicBarrier(parties)
