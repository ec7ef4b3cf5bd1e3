package weir.lab.scale

/** A count of something that grows where carriers disturb each other, taken while a row is measured.
  *
  * @param unit
  *   the unit of its results
  * @param operations
  *   a result is the count for so many operations
  */
enum ScaleCount(val title: String, val unit: String, val operations: Int = 1000):
  /** The processor time of all threads of the JVM, its collector and compiler included. */
  case ProcessorTime extends ScaleCount("processor time an operation", "ns/op", 1)

  /** How often a thread of the operating system has waited, so that another one had to wake it. */
  case Waits extends ScaleCount("waits of OS threads", "waits/1000 ops")

  /** Compare-and-sets that failed because another thread was first. */
  case ContendedCas extends ScaleCount("contended CAS", "CAS/1000 ops")

  /** Calls of `tryLock` that failed, and locks that were waited for. */
  case LockWaits extends ScaleCount("lock waits", "locks/1000 ops")

  /** Idle workers that were woken. */
  case WakeUps extends ScaleCount("wake-ups of workers", "wake-ups/1000 ops")

  /** Fibers that one worker has queued and another one has run. */
  case HandOvers extends ScaleCount("hand-overs", "hand-overs/1000 ops")

object ScaleCount:
  /** The count with that unit; none if there is none. */
  def ofUnit(unit: String): Option[ScaleCount] = values.find(_.unit == unit)
