package weir.kafka.consumer

import java.util.{ArrayList, List as JList}
import weir.kafka.{CommittableRecord, UndecodableRecord}
import weir.Task
import weir.io.Source

/** Records of one partition, which are handed out before those of another. */
private[kafka] final class Chunk(val assignment: Assignment, val records: JList[BytesRecord])

private[kafka] object Chunk:
  private val mostRecords = 500

  /** Puts what a poll has brought of a partition into `chunks`, in pieces: it may be some thousand
    * records.
    */
  def split(assignment: Assignment, records: JList[BytesRecord], chunks: JList[Chunk]): Unit =
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
  * @param emit
  *   returns the element for a record that cannot be decoded; null if there is none, since the
  *   queue has ended the record's partition
  */
private[kafka] final class Chunks[K, V, R >: CommittableRecord[K, V]](
    queue: ChunkQueue,
    decoding: Decoding[K, V],
    startsThem: Boolean = true
)(emit: UndecodableRecord => R | Null)
    extends Source[R]:
  private var chunk: Chunk | Null = null
  private var index = 0
  private val looks = ClockLooks()

  def next()(using Task.Direct): R | Source.End =
    var found: R | Source.End | Null = null
    while found == null do
      val current = chunk
      if current == null then
        chunk = queue.take()
        index = 0
        looks.waited()
        if chunk == null then found = Source.End
      else if index < current.records.size && mayBegin(current.assignment) then
        val record = current.records.get(index)
        index += 1
        decoding(record, current.assignment) match
          case decoded: CommittableRecord[K, V] @unchecked => found = decoded
          case undecodable: UndecodableRecord =>
            found = emit(undecodable)
            if found == null then chunk = null
      else
        chunk = null
        current.assignment.handedOut(current.records.size)
    found

  private def mayBegin(assignment: Assignment): Boolean =
    if startsThem then assignment.tryStart(looks.isDue()) else !assignment.isClosed

private[kafka] type ChunkQueue = FairQueue[Chunk]

private[kafka] object Chunks:
  /** Emits records that cannot be decoded as such. */
  def attempted[K, V](
      queue: ChunkQueue,
      decoding: Decoding[K, V],
      startsThem: Boolean = true
  ): Source[CommittableRecord[K, V] | UndecodableRecord] =
    Chunks[K, V, CommittableRecord[K, V] | UndecodableRecord](queue, decoding, startsThem)(identity)

  /** Fails with the first record that cannot be decoded, in its place: after the records of its
    * partition before it, and after those of the other partitions that have been polled.
    *
    * @param ending
    *   called when there is such a record, before the others
    */
  def failing[K, V](queue: ChunkQueue, decoding: Decoding[K, V], startsThem: Boolean = true)(
      ending: => Unit
  ): Source[CommittableRecord[K, V]] =
    Chunks[K, V, CommittableRecord[K, V]](queue, decoding, startsThem) { undecodable =>
      val record = undecodable.record
      if startsThem then record.holdBack() // no longer in flight: it is never done
      queue.failInPlace(record.topicPartition, undecodable.error)
      ending
      null
    }
