package weir.runtime

/** Finds for how long the oldest job of a ring has waited at least, without a time in each job.
  *
  * The watch marks the end of the queue, with the time. While a job before the mark is still there,
  * it has waited since then. Once all of them have been taken, the watch sets a new mark.
  *
  *   - **Shared**: only the watch's thread writes: `since`, then `mark`. A reader that sees the new
  *     time with the old mark finds that the jobs before that mark have been taken.
  */
private[runtime] final class QueueAge(ring: Ring):
  @volatile private var mark = 0L
  @volatile private var since = 0L

  /** Called on the watch's thread at each of its looks. */
  def look(nowNanos: Long): Unit =
    if ring.taken >= mark then
      since = nowNanos
      mark = ring.pushed

  /** Returns the nanoseconds, to within two looks of the watch; 0 if there is no such job. */
  def nanos(nowNanos: Long): Long =
    val marked = mark
    if ring.taken >= marked then 0 else math.max(0, nowNanos - since)
