package weir.std

import weir.Task
import weir.fiber.{Suspend, TaskFiber, WaitList}
import weir.sync.{Guarded, GuardedEntry}

/** A barrier at which `parties` fibers wait for each other. When all have arrived, they continue,
  * and the barrier can be used again.
  */
final class CyclicBarrier private (parties: Int) extends Guarded:

  // under the lock
  private val line = WaitList()

  /** Waits at the barrier until `parties` fibers have arrived, including this one.
    *
    * **Waits** for the others. **Cancelled** while it waits: this fiber does not count as arrived,
    * so one more has to arrive. If a cancel comes at the same time as the last fiber arrives, it
    * may take effect after that: then the others continue.
    */
  val await: Task[Unit] = new Suspend[Unit]:
    def begin(fiber: TaskFiber): Any = locked(fiber) {
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

  /** Returns the number of fibers that still have to arrive before the waiting ones continue. */
  def missing: Task[Int] = new Suspend[Int]:
    def begin(fiber: TaskFiber): Any = locked(fiber)(parties - line.size)

  private[weir] def leave(entry: GuardedEntry): Unit = locked(entry.fiber)(entry.leaveList())

  private[weir] def awaitedAs: String =
    s"CyclicBarrier($parties), for which ${parties - line.size} fibers are missing"

object CyclicBarrier:
  /** Returns a new barrier for `parties` fibers. **Fails** with an `IllegalArgumentException` if
    * `parties` is below 1.
    */
  def apply(parties: Int): Task[CyclicBarrier] = Task.delay(unsafe(parties))

  /** As `apply`, but makes the barrier at once, for use outside of tasks. */
  def unsafe(parties: Int): CyclicBarrier =
    require(
      parties >= 1,
      s"CyclicBarrier: the number of fibers was $parties. It must be at least 1."
    )
    new CyclicBarrier(parties)
