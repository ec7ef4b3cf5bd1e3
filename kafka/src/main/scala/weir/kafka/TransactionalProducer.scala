package weir.kafka

import org.apache.kafka.clients.producer.ProducerRecord
import org.apache.kafka.common.KafkaException
import weir.kafka.consumer.Transactions
import weir.{Resource, Semaphore, Task}

/** Writes several records in one transaction: readers with `isolation.level=read_committed` see all
  * of them or none. To consume records in the same transaction, use [[ExactlyOnce]].
  *
  * {{{
  * TransactionalProducer.resource(settings, "transfers-on-host-7").use { producer =>
  *   producer.transaction(
  *     List(ProducerRecord("accounts", "alice", "-5"), ProducerRecord("accounts", "bob", "5"))
  *   )
  * }
  * }}}
  */
final class TransactionalProducer[K, V] private (transactions: Transactions, brokers: String):
  private val permit = Semaphore.unsafe(1)

  /** Writes the records in one transaction. Those of several fibers are written one after the
    * other.
    *
    * **Waits** until the brokers have committed it, however long they are unavailable.
    * **Cancelled**: a transaction that is being written is ended first, if the brokers answer.
    * **Fails** with a [[KafkaFailure]] if a topic does not exist, or another process has the same
    * transactional id. Fails also if the brokers have ended the transaction after
    * `transaction.timeout.ms`: then it is unknown if it was written.
    */
  def transaction(records: Iterable[ProducerRecord[K, V]]): Task[Unit] =
    if records.isEmpty then Task.unit
    else
      permit.withPermit(transactions.write(records, java.util.Map.of(), group = null)).flatMap {
        case Transactions.Written.Unknown =>
          Task.fail(
            KafkaFailure(
              s"Kafka at $brokers was away for longer than transaction.timeout.ms while a " +
                s"transaction of ${records.size} records was written. Either all of them are " +
                "written, or none. Look there before you write them again."
            )
          )
        case _ => Task.unit
      }

object TransactionalProducer:
  /** Opens a producer.
    *
    * @param transactionalId
    *   a name for this process, which no other process may have at the same time. If a process
    *   starts again with its name, it ends a transaction that it had left open at once
    */
  def resource[K, V](
      settings: ProducerSettings[K, V],
      transactionalId: String
  ): Resource[TransactionalProducer[K, V]] =
    require(
      transactionalId.nonEmpty,
      "TransactionalProducer: the transactional id was empty. Name this process."
    )
    val who = s"the transactional id '$transactionalId'"
    val explain = KafkaFailure.explain(settings.brokers, who, Set.empty)
    Resource
      .make(Task.uninterruptible {
        val transactions = Transactions(
          () => KafkaProducer.open(settings, Some(transactionalId)),
          settings.transactionTimeout,
          settings.brokers,
          explain
        )
        try transactions.start()
        catch
          case error: KafkaException =>
            transactions.abandon()
            throw explain(error)
        transactions
      })(transactions => Task.uninterruptible(transactions.close()))
      .map(new TransactionalProducer(_, settings.brokers))
