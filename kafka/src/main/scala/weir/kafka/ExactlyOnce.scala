package weir.kafka

import org.apache.kafka.clients.producer.ProducerRecord
import scala.concurrent.duration.{DurationInt, FiniteDuration}
import scala.util.matching.Regex
import weir.kafka.consumer.{Subscription, TransactionLoop}
import weir.{Stream, Task}

/** Consumes, transforms and produces records, exactly once in the output topics for readers with
  * `isolation.level=read_committed`. Records are taken in batches. A batch is divided into pieces
  * of about half a second at most. When the tasks of a piece have succeeded, one transaction writes
  * their output and the offsets of the piece. If a process is killed or loses a partition, nothing
  * of its unfinished piece is written. The tasks of the piece then run again in some process, so
  * their other effects, such as a call of a service, may happen twice.
  *
  * @param transactionalId
  *   a name for this process, which no other process may have at the same time. If a process starts
  *   again with its name, it ends a transaction that it had left open at once. Otherwise the broker
  *   ends it after `transaction.timeout.ms`, which is 10 s here. If a transaction of this process
  *   takes longer, since the brokers were unavailable, it is begun again
  * @param batchRecords
  *   the largest number of records in a transaction. A revoke waits for a piece of the batch
  * @param batchTime
  *   the time for which a batch waits for more records
  */
final class ExactlyOnce[K, V, L, W](
    consumer: ConsumerSettings[K, V],
    producer: ProducerSettings[L, W],
    transactionalId: String,
    batchRecords: Int = 1000,
    batchTime: FiniteDuration = 50.millis
):
  require(
    batchRecords >= 1 && batchTime.toMillis >= 1 && transactionalId.nonEmpty,
    s"ExactlyOnce: batchRecords was $batchRecords, batchTime $batchTime and the transactionalId " +
      s"'$transactionalId'. The first must be at least 1, the second 1 ms, the third not empty."
  )

  /** Emits the number of records that were consumed of each batch, and does not end.
    *
    * **Waits** for records, and for brokers that become unavailable later. **Cancelled**: a
    * transaction that is being written is ended first, except if the brokers are unavailable: they
    * abort it later. **Fails** with the first error of a task that `attempts` does not cover, whose
    * piece is then left undone; as `KafkaConsumer.records` does; and if another process uses this
    * transactional id. **Order**: the output of the records of one key is written in the order of
    * those records.
    *
    * {{{
    * val attempts = Attempts(5, deadLetters = Some("orders.dead"))
    * exactlyOnce.run(Set("orders"), "pricing", parallelism = 64, attempts) { order =>
    *   price(order.value).map(text => List(ProducerRecord("prices", order.key, text)))
    * }
    * }}}
    *
    * @param parallelism
    *   the number of tasks that run at a time; those of one key one after the other
    * @param attempts
    *   how often a task runs whose record fails, and the topic for records that fail each time, or
    *   cannot be decoded. The transaction of the piece writes them there. A piece waits for the
    *   next attempt of its records, so keep the waits between attempts short
    * @param f
    *   the records to write for a record
    */
  def run(
      topics: Set[String] | Regex,
      group: String,
      parallelism: Int,
      attempts: Attempts[String] = Attempts.once
  )(
      f: CommittableRecord[K, V] => Task[Iterable[ProducerRecord[L, W]]]
  ): Stream[Int] =
    require(group.nonEmpty, "ExactlyOnce.run: the group was empty. Name one.")
    val subscription = Subscription.of(topics)
    val reading =
      consumer.copy(properties = consumer.properties ++ Map("isolation.level" -> "read_committed"))
    Stream
      .bracket(
        TransactionLoop.open(
          reading,
          producer,
          transactionalId,
          subscription,
          group,
          parallelism,
          attempts
        )(f)
      )(_.close)
      .flatMap { loop =>
        loop.records
          .groupWithin(batchRecords, batchTime)
          .evalMap(loop.consume)
      }
