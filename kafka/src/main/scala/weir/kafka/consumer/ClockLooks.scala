package weir.kafka.consumer

/** The records before which a reader looks at the clock, to find out if the process has slept. A
  * look costs a tenth of what it costs to read a record.
  *
  * A reader that takes a millisecond for a record looks before each. Each look within the same
  * millisecond as the one before doubles the number of records until the next. So at most `most`
  * records begin after a sleep without a look, and those before them took a millisecond together.
  *
  * One reader at a time uses it.
  */
private[kafka] final class ClockLooks(nowMillis: () => Long = () => System.currentTimeMillis()):
  private var latestMillis = -1L

  /** The number of records between the last look and the next, and those that are left of it. */
  private var between = 0
  private var left = 0

  /** Returns true if the reader must look before the next record. */
  def isDue(): Boolean =
    if left > 0 then
      left -= 1
      false
    else
      val now = nowMillis()
      between = if now == latestMillis then math.min(2 * between + 1, ClockLooks.most) else 0
      latestMillis = now
      left = between
      true

  /** Called after a wait: the next record needs a look. */
  def waited(): Unit = left = 0

private[kafka] object ClockLooks:
  /** With this, what the looks cost is lost in what a measurement of the reading varies by. */
  val most = 15
