package weir.kafka.consumer

import java.util.List as JList
import org.apache.kafka.clients.consumer.ConsumerRecord
import weir.kafka.CommittableRecord
import weir.{Source, Task}

/** The records of one partition that one poll has brought. */
private[kafka] final class Chunk[K, V](
    val assignment: Assignment,
    val records: JList[ConsumerRecord[K, V]]
)

/** The records of the chunks in a queue, but for those of partitions that have been taken away.
  *
  * @param startsThem
  *   whether a record that is handed out is in flight; otherwise whoever works on it starts it
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
