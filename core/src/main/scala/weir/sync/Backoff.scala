package weir.sync

import weir.runtime.{Pause, Tuning}

/** The pause of a carrier that has lost a race for a cache line to another one.
  *
  * During the pause the winner does many operations on a line that stays in its cache. If both
  * retried at once, each operation would fetch the line from the other carrier's cache, and two
  * carriers would do less than one.
  */
private[weir] object Backoff:

  /** Waits for `nanos` nanoseconds. Returns the time to wait if the race is lost again. */
  def pause(nanos: Long): Long =
    Pause.nanos(nanos)
    math.min(nanos * 2, Tuning.backoffMostNanos)
