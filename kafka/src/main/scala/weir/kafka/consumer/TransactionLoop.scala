package weir.kafka.consumer

import java.time.Duration as JDuration
import java.util.HashMap
import org.apache.kafka.clients.consumer.OffsetAndMetadata
import org.apache.kafka.clients.producer.{Producer, ProducerRecord}
import org.apache.kafka.common.{KafkaException, TopicPartition}
import org.apache.kafka.common.errors.{
  AuthorizationException,
  InvalidProducerEpochException,
  OutOfOrderSequenceException,
  ProducerFencedException,
  TimeoutException,
  UnsupportedVersionException
}
import weir.kafka.{
  CommittableRecord,
  ConsumerSettings,
  KafkaFailure,
  KafkaProducer,
  KeyedRecords,
  ProducerSettings
}
import weir.{Stream, Task}

/** A group's records, and the transactions that consume them. README.md says why a transaction
  * never consumes records of a partition that was lost.
  */
private[kafka] final class TransactionLoop[K, V, L, W] private (
    queue: FairQueue[Chunk[K, V]],
    polls: PollLoop[K, V],
    client: Producer[L, W],
    explain: Throwable => Throwable
):
  import TransactionLoop.*

  def records: Stream[CommittableRecord[K, V]] =
    Stream.fromSource(Task.delay(Chunks(queue, startsThem = false)))

  /** The number of records in a transaction: so many that it costs little beside the tasks, and so
    * few that a revoke, which waits for it, does not wait long.
    */
  private var pieceSize = 0

  /** Consumes the batch, and returns the number of its records that were consumed. Only the records
    * of a piece are in flight. Records of partitions that are revoked meanwhile are not started.
    */
  def consume(batch: Vector[CommittableRecord[K, V]], parallelism: Int)(
      f: CommittableRecord[K, V] => Task[Iterable[ProducerRecord[L, W]]]
  ): Task[Int] = Task.direct {
    if pieceSize == 0 then pieceSize = parallelism
    var rest = batch
    var consumed = 0
    while rest.nonEmpty do
      val (next, later) = rest.splitAt(pieceSize)
      val piece = next.filter(_.assignment.tryStart())
      if piece.nonEmpty then
        val start = System.nanoTime()
        consumed += commit(outputs(piece, parallelism)(f).await).await
        val millis = (System.nanoTime() - start) / 1_000_000
        if millis < fewestMillis then pieceSize = math.min(pieceSize * 2, mostRecords)
        else if millis > mostMillis then pieceSize = math.max(parallelism, pieceSize / 2)
      rest = later
    consumed
  }

  /** Runs the task of each record once, and returns their output. */
  private def outputs(batch: Vector[CommittableRecord[K, V]], parallelism: Int)(
      f: CommittableRecord[K, V] => Task[Iterable[ProducerRecord[L, W]]]
  ): Task[Vector[Output[K, V, L, W]]] =
    Stream
      .fromIterable(batch)
      .parEvalMapBy(parallelism, buffer = batch.size)(KeyedRecords.keyOf)(record =>
        f(record).map(Output(record, _))
      )
      .toVector

  /** Commits the output, and returns the number of records that were consumed: those whose
    * partitions this member still has.
    */
  private def commit(outputs: Vector[Output[K, V, L, W]]): Task[Int] = Task.uninterruptible {
    var consumed = -1
    while consumed < 0 do
      // This must come before the check of the owned partitions: see `PollLoop.groupMetadata`.
      val group = polls.groupMetadata
      val live = outputs.filter(_.record.assignment.isOwned)
      if live.isEmpty || group == null then consumed = 0
      else
        try
          client.beginTransaction()
          live.foreach(_.records.foreach(record => client.send(record): Unit))
          client.sendOffsetsToTransaction(offsets(live), group)
          commitTransaction()
          live.foreach(_.record.markDone())
          consumed = live.size
        catch
          case error: Exception if isFinal(error) => throw explain(error)
          case error: KafkaException =>
            try client.abortTransaction()
            catch
              case later: Exception =>
                error.addSuppressed(later)
                throw explain(error)
            if !causes(error).exists(Commits.isOfGroup) then throw explain(error)
            // The group has changed: try again, with its new generation and the records that are
            // left.
            Thread.sleep(20)
    consumed
  }

  /** A commit that has timed out may only be asked for again. */
  private def commitTransaction(): Unit =
    var attempt = 1
    var isOver = false
    while !isOver do
      try
        client.commitTransaction()
        isOver = true
      catch case _: TimeoutException if attempt < commitAttempts => attempt += 1

  /** **Waits** for both sides.
    */
  def close: Task[Unit] = Task.uninterruptible {
    try client.close(JDuration.ofSeconds(10))
    finally polls.stop()
  }

private[kafka] object TransactionLoop:
  private val commitAttempts = 3
  private val fewestMillis = 100
  private val mostMillis = 500
  private val mostRecords = 1 << 20

  final case class Output[K, V, L, W](
      record: CommittableRecord[K, V],
      records: Iterable[ProducerRecord[L, W]]
  )

  def open[K, V, L, W](
      reading: ConsumerSettings[K, V],
      writing: ProducerSettings[L, W],
      transactionalId: String,
      topics: Set[String],
      group: String
  ): Task[TransactionLoop[K, V, L, W]] = Task.uninterruptible {
    val explain =
      KafkaFailure.explain(writing.brokers, s"the transactional id '$transactionalId'", topics)
    val client = KafkaProducer.open(writing, Some(transactionalId))
    try
      client.initTransactions()
      val target = MergedTarget[K, V]()
      val polls = Consumption.start(reading, topics, group, target, commits = false)
      new TransactionLoop(target.queue, polls, client, explain)
    catch
      case error: Exception =>
        client.close(JDuration.ZERO)
        throw explain(error)
  }

  private def offsets(
      outputs: Vector[Output[?, ?, ?, ?]]
  ): HashMap[TopicPartition, OffsetAndMetadata] =
    val last = HashMap[TopicPartition, OffsetAndMetadata]()
    outputs.foreach { output =>
      val record = output.record.record
      val next = OffsetAndMetadata(record.offset + 1, record.leaderEpoch, "")
      val before = last.get(output.record.topicPartition)
      if before == null || before.offset < next.offset then
        last.put(output.record.topicPartition, next): Unit
    }
    last

  /** After these errors a producer cannot be used any more. */
  private def isFinal(error: Exception): Boolean = error match
    case _: (ProducerFencedException | OutOfOrderSequenceException | AuthorizationException |
          UnsupportedVersionException | InvalidProducerEpochException) =>
      true
    case _ => false

  private def causes(error: Throwable): Iterator[Throwable] =
    Iterator.iterate(error)(_.getCause).takeWhile(_ != null)
