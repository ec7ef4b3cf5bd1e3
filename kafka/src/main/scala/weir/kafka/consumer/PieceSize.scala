package weir.kafka.consumer

/** The number of records in a transaction: so many that it costs little beside their tasks, and so
  * few that a revoke, which waits for both, does not wait long.
  *
  * A transaction takes its time however few its records are, and with brokers that are far away
  * that may be most of half a second. So the tasks have what it leaves of that, and some time at
  * least. Otherwise such a transaction would have `parallelism` records for ever.
  */
private[kafka] final class PieceSize(parallelism: Int):
  import PieceSize.*

  private var most = parallelism

  /** Returns the largest number of records of the next piece. */
  def records: Int = most

  /** Called after a piece. One that was cut short by the end of its batch says nothing of longer
    * ones.
    */
  def took(records: Int, tasksNanos: Long, transactionNanos: Long): Unit =
    val time = math.max(leastNanos, mostNanos - transactionNanos)
    if tasksNanos > time then most = math.max(parallelism, most / 2)
    else if 2 * tasksNanos <= time && records >= most then most = math.min(2 * most, mostRecords)

private object PieceSize:
  private val leastNanos = 100_000_000L
  private val mostNanos = 500_000_000L
  private val mostRecords = 1 << 20
