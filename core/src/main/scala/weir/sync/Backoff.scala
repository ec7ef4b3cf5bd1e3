package weir.sync

import weir.runtime.{Pause, Tuning}

/** What a carrier does that has lost a race for a cache line: it leaves the line to the winner for a while.
  *
  * The winner then does many operations on a line that stays in its cache. Where both try again at once, each operation of
  * either has to fetch the line from the other one's cache, and two carriers do less than one.
  */
private[weir] object Backoff:

  /** Waits for so many nanoseconds. How many to wait for when the race is lost again. */
  def pause(nanos: Long): Long =
    Pause.nanos(nanos)
    math.min(nanos * 2, Tuning.backoffMostNanos)
