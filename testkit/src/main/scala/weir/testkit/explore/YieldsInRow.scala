package weir.testkit.explore

/** Counts how often in a row a strand has given up its turn, and taken the next one again.
  *
  * A strand that does so again and again waits for others, so it is their turn. Without that rule
  * the number of orders would be infinite.
  */
private[explore] final class YieldsInRow:
  private var latest = -1
  private var count = 0

  /** Reports that a strand has taken a step. */
  def ran(id: Int): Unit = if id != latest then latest = -1

  /** Returns true if the strand, which gives up its turn, may take the next one again while others
    * can.
    */
  def mayGoOn(id: Int): Boolean =
    if id == latest then count += 1 else count = 1
    latest = id
    count <= YieldsInRow.most

private[explore] object YieldsInRow:
  private inline val most = 2
