package weir.kafka.consumer

import java.util.HashMap
import org.apache.kafka.clients.consumer.OffsetAndMetadata
import org.apache.kafka.clients.producer.ProducerRecord
import org.apache.kafka.common.TopicPartition
import scala.concurrent.duration.DurationInt
import weir.kafka.{
  Attempts,
  CommittableRecord,
  ConsumerSettings,
  DeadLetters,
  KafkaFailure,
  KafkaProducer,
  KeyedRecords,
  ProducerSettings,
  UndecodableRecord
}
import weir.{Stream, Task}

/** A group's records, and the transactions that consume them. README.md says why a transaction
  * never consumes records of a partition that was lost.
  */
private[kafka] final class TransactionLoop[K, V, L, W] private (
    queue: ChunkQueue,
    decoding: Decoding[K, V],
    polls: PollLoop,
    transactions: Transactions,
    committed: CommittedOffsets,
    parallelism: Int,
    attempts: Attempts[String],
    f: CommittableRecord[K, V] => Task[Iterable[ProducerRecord[L, W]]]
):
  import TransactionLoop.*

  private val schedule = attempts.schedule

  /** Without dead letters a record that cannot be decoded is an error in its place. */
  def records: Stream[CommittableRecord[K, V] | UndecodableRecord] = Stream.fromSource(Task.delay {
    if attempts.deadLetters.isEmpty then
      Chunks.failing(queue, decoding, startsThem = false)(polls.end())
    else Chunks.attempted(queue, decoding, startsThem = false)
  })

  private val pieceSize = PieceSize(parallelism)

  /** Consumes the batch, and returns the number of its records that were consumed. Only the records
    * of a piece are in flight. Records of partitions that are revoked meanwhile are not started.
    */
  def consume(batch: Vector[CommittableRecord[K, V] | UndecodableRecord]): Task[Int] = Task.direct {
    var rest = batch
    var consumed = 0
    while rest.nonEmpty do
      if !polls.hasNotSlept then confirm(rest.map(UndecodableRecord.recordOf)).await
      val (next, later) = rest.splitAt(pieceSize.records)
      val piece = next.filter(UndecodableRecord.recordOf(_).assignment.tryStart())
      if piece.nonEmpty then
        val start = System.nanoTime()
        val written = whole(outputs(piece).await)
        val workEnd = System.nanoTime()
        consumed += commit(written).await
        pieceSize.took(piece.size, workEnd - start, System.nanoTime() - workEnd)
      rest = later
    consumed
  }

  /** After a sleep: begins nothing until the group has taken a transaction that says what it has
    * already, or this member has lost the partitions.
    */
  private def confirm(batch: Vector[CommittableRecord[?, ?]]): Task[Unit] = Task.direct {
    def live = batch.filter(!_.assignment.isClosed)
    while !polls.hasNotSlept && live.nonEmpty do
      val (askedMillis, group) = (polls.nowMillis, polls.groupMetadata)
      val owned = live.filter(_.assignment.isOwned)
      val written =
        if group == null || owned.isEmpty then Transactions.Written.Refused
        else transactions.write(Nil, begins(owned), group).await
      if written == Transactions.Written.Committed then polls.confirmed(askedMillis)
      else Task.sleep(20.millis).await
  }

  /** Runs the tasks of the records, and returns their output. */
  private def outputs(
      piece: Vector[CommittableRecord[K, V] | UndecodableRecord]
  ): Task[Vector[Output]] =
    Stream
      .fromIterable(piece)
      .parEvalMapBy(parallelism, buffer = piece.size)(KeyedRecords.keyOf) {
        case undecodable: UndecodableRecord =>
          Task.delay(letter(undecodable.record, undecodable.cause, attempts = 0))
        case record: CommittableRecord[K, V] @unchecked => output(record)
      }
      .toVector

  /** A record whose partition is about to go is not tried again: a revoke waits for it. */
  private def output(record: CommittableRecord[K, V]): Task[Output] = Task.defer {
    var tried = 0
    Task
      .defer {
        tried += 1
        f(record)
      }
      .map(records => Output(record, Some(records)))
      .retry(schedule.whileInput(_ => !record.assignment.isClosed))
      .handleErrorWith { error =>
        if tried < attempts.max && record.assignment.isClosed then Task.pure(Output(record, None))
        else if attempts.deadLetters.isEmpty then Task.fail(error)
        else Task.delay(letter(record, error, tried))
      }
  }

  private def letter(record: CommittableRecord[?, ?], error: Throwable, attempts: Int): Output =
    val topic = this.attempts.deadLetters.getOrElse("")
    Output(record, Some(List(DeadLetters.of(topic, record.bytes, error, attempts))))

  /** Returns the outputs of the partitions of which each record has one. The others are left to the
    * next owner: their offsets would not be a contiguous prefix.
    */
  private def whole(outputs: Vector[Output]): Vector[Output] =
    val left = outputs.filter(_.records.isEmpty).map(_.record.assignment).toSet
    val (leaving, all) = outputs.partition(output => left.contains(output.record.assignment))
    leaving.foreach(_.record.holdBack()) // a revoke does not wait for them
    all

  /** Commits the output, and returns the number of records that were consumed: those whose
    * partitions this member still has.
    */
  private def commit(outputs: Vector[Output]): Task[Int] = Task.direct {
    var left = outputs
    var consumed = 0
    def isDone(done: Vector[Output]): Unit =
      done.foreach(_.record.markDone())
      consumed += done.size
    while left.nonEmpty do
      // This must come before the check of the owned partitions: see `PollLoop.groupMetadata`.
      val group = polls.groupMetadata
      val live = left.filter(_.record.assignment.isOwned)
      if live.isEmpty || group == null then left = Vector.empty
      else
        transactions.write(live.flatMap(_.records.iterator.flatten), ends(live), group).await match
          case Transactions.Written.Committed =>
            isDone(live)
            left = Vector.empty
          case Transactions.Written.Refused =>
            // Try again, with the new generation and the records that are left.
            Task.sleep(20.millis).await
            left = live
          case Transactions.Written.Unknown =>
            val offsets = committed.of(live.map(_.record.topicPartition).toSet).await
            val (before, after) = live.partition { output =>
              offsets.get(output.record.topicPartition).exists(output.record.offset < _)
            }
            isDone(before)
            left = after
    consumed
  }

  /** **Waits** for both sides.
    */
  def close: Task[Unit] = Task.uninterruptible {
    try transactions.close()
    finally
      polls.stop()
      decoding.close()
  }

private[kafka] object TransactionLoop:
  /** @param records
    *   what the transaction writes for a record; none if the record is left to the next owner
    */
  private final case class Output(
      record: CommittableRecord[?, ?],
      records: Option[Iterable[ProducerRecord[?, ?]]]
  )

  def open[K, V, L, W](
      reading: ConsumerSettings[K, V],
      writing: ProducerSettings[L, W],
      transactionalId: String,
      subscription: Subscription,
      group: String,
      parallelism: Int,
      attempts: Attempts[String]
  )(
      f: CommittableRecord[K, V] => Task[Iterable[ProducerRecord[L, W]]]
  ): Task[TransactionLoop[K, V, L, W]] = Task.uninterruptible {
    val explain =
      KafkaFailure.explain(
        writing.brokers,
        s"the transactional id '$transactionalId'",
        subscription.names
      )
    val transactions = Transactions(
      () => KafkaProducer.open(writing, Some(transactionalId)),
      writing.transactionTimeout,
      writing.brokers,
      explain
    )
    try
      transactions.start()
      val target = MergedTarget()
      Decoding.used(reading, group) { decoding =>
        val polls = Consumption.start(reading, subscription, group, target, commits = false)
        val committed = CommittedOffsets(reading, group)
        new TransactionLoop(
          target.queue,
          decoding,
          polls,
          transactions,
          committed,
          parallelism,
          attempts,
          f
        )
      }
    catch
      case error: Exception =>
        transactions.abandon()
        throw explain(error)
  }

  /** Returns the offsets after the last of the records of each partition. */
  private def ends(outputs: Vector[Output]): HashMap[TopicPartition, OffsetAndMetadata] =
    offsets(outputs.map(_.record))(_.maxBy(_.offset), 1)

  /** Returns the offsets of the first of the records of each partition. */
  private def begins(
      records: Vector[CommittableRecord[?, ?]]
  ): HashMap[TopicPartition, OffsetAndMetadata] =
    offsets(records)(_.minBy(_.offset), 0)

  private def offsets(records: Vector[CommittableRecord[?, ?]])(
      choose: Vector[CommittableRecord[?, ?]] => CommittableRecord[?, ?],
      after: Int
  ): HashMap[TopicPartition, OffsetAndMetadata] =
    val found = HashMap[TopicPartition, OffsetAndMetadata]()
    for (partition, ofIt) <- records.groupBy(_.topicPartition) do
      val record = choose(ofIt)
      found.put(partition, OffsetAndMetadata(record.offset + after, record.bytes.leaderEpoch, ""))
    found
