package weir.testkit.explore

/** Counts how often in a row a strand has given up its turn, and taken the next one again.
  *
  * A strand that does so again and again may wait for others: see `Strategy.yieldsInRow`.
  */
private[explore] final class YieldsInRow:
  private var latest = -1
  private var count = 0

  /** Reports that a strand has taken a step. */
  def ran(id: Int): Unit = if id != latest then latest = -1

  /** Returns how often the strand has given up its turn in a row, including this time. */
  def again(id: Int): Int =
    if id == latest then count += 1 else count = 1
    latest = id
    count
