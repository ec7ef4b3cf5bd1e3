package weir.kafka

import org.apache.kafka.clients.producer.ProducerRecord
import scala.concurrent.duration.{DurationInt, FiniteDuration}
import weir.kafka.consumer.TransactionLoop
import weir.{Stream, Task}

/** Consumes, transforms and produces, exactly once in the output topics, for those who read them
  * with `isolation.level=read_committed`.
  *
  * Records are taken in batches, and these in pieces, of about half a second at most. When the
  * tasks of a piece have succeeded, one transaction writes what they gave, and its offsets. A
  * process that is killed, or has lost a partition, leaves nothing of a piece behind; its tasks
  * then run again somewhere, so what else they do, such as a call of a service, may happen twice.
  *
  * @param transactionalId
  *   a name for this process, which no other may have at the same time. One that starts again under
  *   its name ends what it had left open at once; otherwise the broker does so after
  *   `transaction.timeout.ms`, which is 10 s here
  * @param batchRecords
  *   how many records are in a transaction at most. A revoke waits for a piece of the batch
  * @param batchTime
  *   how long a batch waits for more
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
      s"'$transactionalId'. They must be at least 1 and 1 ms, and not empty."
  )

  /** How many records of each batch were consumed, without an end.
    *
    * **Waits** for records. **Cancelled**: a transaction that has begun is ended first. **Fails**
    * with the first error of a task, whose batch is then left undone; otherwise as
    * `KafkaConsumer.records`, and where another process has this transactional id. **Order**: what
    * the records of one key gave is written in their order.
    *
    * @param parallelism
    *   how many tasks run at a time; those of one key one after the other
    * @param f
    *   the records to write for a record
    */
  def run(topics: Set[String], group: String, parallelism: Int)(
      f: CommittableRecord[K, V] => Task[Iterable[ProducerRecord[L, W]]]
  ): Stream[Int] =
    val reading =
      consumer.copy(properties = consumer.properties ++ Map("isolation.level" -> "read_committed"))
    Stream
      .bracket(TransactionLoop.open(reading, producer, transactionalId, topics, group))(_.close)
      .flatMap { loop =>
        loop.records
          .groupWithin(batchRecords, batchTime)
          .evalMap(batch => loop.consume(batch, parallelism)(f))
      }
