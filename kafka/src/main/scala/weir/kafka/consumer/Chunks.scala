package weir.kafka.consumer

import java.util.{ArrayList, List as JList}
import org.apache.kafka.clients.consumer.ConsumerRecord
import weir.kafka.CommittableRecord
import weir.Task
import weir.io.Source

/** Records of one partition, which are handed out before those of another. */
private[kafka] final class Chunk[K, V](
    val assignment: Assignment,
    val records: JList[ConsumerRecord[K, V]]
)

private[kafka] object Chunk:
  private val mostRecords = 500

  /** Puts what a poll has brought of a partition into `chunks`, in pieces: it may be some thousand
    * records.
    */
  def split[K, V](
      assignment: Assignment,
      records: JList[ConsumerRecord[K, V]],
      chunks: JList[Chunk[K, V]]
  ): Unit =
    var from = 0
    while from < records.size do
      val until = math.min(from + mostRecords, records.size)
      // A copy, since a view would keep all of them until the last piece has been handed out.
      val piece = if records.size <= mostRecords then records else copy(records, from, until)
      chunks.add(Chunk(assignment, piece))
      from = until

  private def copy[A](list: JList[A], from: Int, until: Int): JList[A] =
    ArrayList(list.subList(from, until))

/** The records of the chunks in a queue, but for those of partitions that have been taken away.
  *
  * @param startsThem
  *   true if a record that is handed out is in flight; otherwise whoever works on it starts it
  */
private[kafka] final class Chunks[K, V](queue: FairQueue[Chunk[K, V]], startsThem: Boolean = true)
    extends Source[CommittableRecord[K, V]]:
  private var chunk: Chunk[K, V] | Null = null
  private var index = 0

  def next()(using Task.Direct): CommittableRecord[K, V] | Source.End =
    var found: CommittableRecord[K, V] | Source.End | Null = null
    while found == null do
      val current = chunk
      if current == null then
        chunk = queue.take()
        index = 0
        if chunk == null then found = Source.End
      else if index < current.records.size && mayBegin(current.assignment) then
        found = CommittableRecord(current.records.get(index), current.assignment)
        index += 1
      else
        chunk = null
        current.assignment.handedOut(current.records.size)
    found

  private def mayBegin(assignment: Assignment): Boolean =
    if startsThem then assignment.tryStart() else !assignment.isClosed
