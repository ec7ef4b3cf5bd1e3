package weir.testkit.explore

/** How often in a row a strand has given up its turn, and taken the next one again.
  *
  * One that does so again and again waits for others: so it is their turn. Without that there would
  * be no end of orders.
  */
private[explore] final class YieldsInRow:
  private var latest = -1
  private var count = 0

  /** A strand has taken a step. */
  def ran(id: Int): Unit = if id != latest then latest = -1

  /** Whether the strand, which gives up its turn, may take the next one again while others can. */
  def mayGoOn(id: Int): Boolean =
    if id == latest then count += 1 else count = 1
    latest = id
    count <= YieldsInRow.most

private[explore] object YieldsInRow:
  private inline val most = 2
