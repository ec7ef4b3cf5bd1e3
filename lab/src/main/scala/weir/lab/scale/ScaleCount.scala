package weir.lab.scale

/** A count, taken while a row is measured, of something that grows if carriers disturb each other.
  *
  * @param unit
  *   the unit of its results
  * @param operations
  *   the number of operations for which a result has the count
  */
enum ScaleCount(val title: String, val unit: String, val operations: Int = 1000):
  /** The processor time of all threads of the JVM, its collector and compiler included. */
  case ProcessorTime extends ScaleCount("processor time an operation", "ns/op", 1)

  /** The number of times that an OS thread has waited, so that another one had to wake it. */
  case Waits extends ScaleCount("waits of OS threads", "waits/1000 ops")

  /** Compare-and-sets that failed because another thread was first. Weir's own, as those below. */
  case ContendedCas extends ScaleCount("contended CAS", "CAS/1000 ops")

  /** Locks that another thread held when they were tried. */
  case LockWaits extends ScaleCount("locks found held", "locks/1000 ops")

  /** Idle workers, and waiting timer threads, that were woken, and workers that were started. */
  case WakeUps extends ScaleCount("wake-ups", "wake-ups/1000 ops")

  /** Fibers that a worker runs next because the one before has woken them, without a queue. */
  case HandOvers extends ScaleCount("hand-overs", "hand-overs/1000 ops")

  /** Fibers that a worker has taken from the queue of another one. */
  case Steals extends ScaleCount("steals", "steals/1000 ops")

object ScaleCount:
  /** Returns the count with that unit; none if there is none. */
  def ofUnit(unit: String): Option[ScaleCount] = values.find(_.unit == unit)
