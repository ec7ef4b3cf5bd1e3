package weir.kafka.consumer

import java.time.Duration
import org.apache.kafka.clients.consumer.{ConsumerGroupMetadata, OffsetAndMetadata}
import org.apache.kafka.clients.producer.{Producer, ProducerRecord}
import org.apache.kafka.common.errors.TimeoutException
import org.apache.kafka.common.{KafkaException, TopicPartition}
import scala.concurrent.duration.DurationInt
import weir.Task
import weir.kafka.{KafkaFailure, KafkaProducer}
import weir.kafka.consumer.ClientErrors.Kind

/** The transactions of a transactional id, one after the other. The brokers may be away for as long
  * as they like: each call waits for them for a while, and then waits again, unless the stream is
  * cancelled in between.
  *
  * {{{
  * begin -> send -> commit ---------------------------------------> Committed
  *            |       +--no answer--> commit again
  *            +-------+--error--> abort -+--the group has changed--> Refused
  *                    |             +    +--a broker is away--> begin again
  *                    |             +--no answer--> abort again
  *                    +--the broker has ended it: took too long--> a new producer --> Unknown
  * }}}
  *
  * @param timeout
  *   the time after which the broker ends a transaction by itself. Then it refuses the producer, as
  *   if another process had the same id
  */
private[kafka] final class Transactions(
    open: () => Producer[Any, Any],
    timeout: Duration,
    brokers: String,
    explain: Throwable => Throwable
):
  import Transactions.*

  private var client = open()

  /** **Waits** for the brokers, for as long as one call does. **Fails** if they do not answer.
    */
  def start(): Unit = client.initTransactions()

  /** Writes records and offsets in one transaction; no offsets without a group. */
  def write(
      records: Iterable[ProducerRecord[?, ?]],
      offsets: java.util.Map[TopicPartition, OffsetAndMetadata],
      group: ConsumerGroupMetadata | Null
  ): Task[Written] = Task.direct {
    var written: Written | Null = null
    while written == null do
      val beginMillis = System.currentTimeMillis()
      val error = transact(records, offsets, group).await
      if error == null then written = Written.Committed
      else if !ClientErrors.isOf(error, Kind.OfProducer) && abort(error).await then
        if ClientErrors.isOf(error, Kind.OfGroup) then written = Written.Refused
        else if ClientErrors.isOf(error, Kind.OfBroker, Kind.OfTransaction) then
          checkTargets(records).await
          Task.sleep(100.millis).await
        else throw explain(error)
      else if System.currentTimeMillis() - beginMillis < timeout.toMillis then throw explain(error)
      else
        reopen().await
        written = Written.Unknown
    written.nn
  }

  /** Returns the error, or null once it is committed. */
  private def transact(
      records: Iterable[ProducerRecord[?, ?]],
      offsets: java.util.Map[TopicPartition, OffsetAndMetadata],
      group: ConsumerGroupMetadata | Null
  ): Task[Exception | Null] =
    var mayCommitAgain = false
    val once = Task.uninterruptible {
      client.beginTransaction()
      for record <- records do client.send(record.asInstanceOf[ProducerRecord[Any, Any]]): Unit
      if group != null then client.sendOffsetsToTransaction(offsets, group)
      mayCommitAgain = true
      client.commitTransaction()
    }
    Task.direct {
      try
        try once.await
        catch
          case _: TimeoutException if mayCommitAgain =>
            untilAnswered(() => client.commitTransaction()).await
        null
      catch case error: KafkaException => error
    }

  /** Returns true if the producer can be used for the next transaction. */
  private def abort(error: Exception): Task[Boolean] = Task.direct {
    try
      untilAnswered(() => client.abortTransaction()).await
      true
    catch
      case later: Exception =>
        if later != error then error.addSuppressed(later)
        false
  }

  /** **Fails** if a topic to write to, or a partition of it, does not exist. By the error of a send
    * that cannot be told from a broker that is away.
    */
  private def checkTargets(records: Iterable[ProducerRecord[?, ?]]): Task[Unit] =
    Task.uninterruptible {
      for (topic, last) <- records.groupMapReduce(_.topic)(partitionOf)(math.max) do
        try
          val count = client.partitionsFor(topic).size
          if count <= last then throw KafkaFailure.noPartition(brokers, topic, last, count)
        catch
          case error: KafkaException if KafkaFailure.isNoTopic(error) =>
            throw KafkaFailure.noTopic(brokers, topic)
          case _: TimeoutException => ()
          case error: KafkaException => throw explain(error)
    }

  private def partitionOf(record: ProducerRecord[?, ?]): Int =
    Option(record.partition).fold(0)(_.intValue)

  private def reopen(): Task[Unit] = Task.direct {
    Task.uninterruptible {
      abandon()
      client = open()
    }.await
    untilAnswered(() => client.initTransactions()).await
  }

  /** A call that was not answered in time may only be made again. */
  private def untilAnswered(call: () => Unit): Task[Unit] = Task.direct {
    var isAnswered = false
    while !isAnswered do
      try
        Task.uninterruptible(call()).await
        isAnswered = true
      catch case _: TimeoutException => ()
  }

  /** Aborts an open transaction if the brokers answer. */
  def close(): Unit = KafkaProducer.close(client, Duration.ofSeconds(10))

  /** **Waits** for no broker.
    */
  def abandon(): Unit = KafkaProducer.close(client, Duration.ZERO)

private[kafka] object Transactions:
  enum Written:
    case Committed

    /** The group has changed: with its new generation the rest may be written. */
    case Refused

    /** The committed offsets have to be looked up. */
    case Unknown
