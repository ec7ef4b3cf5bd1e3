package weir.kafka

import weir.Stream
import weir.kafka.consumer.SharedConsumption

/** Reads topics as a member of a share group: a queue of Kafka's own. Each record goes to one of
  * the members, whatever its partition, and is locked for it until it is settled: accepted,
  * released or rejected. So there may be more members than partitions, and there is no order.
  *
  * **At least once**: a record that was released, or whose member has died, is delivered again, to
  * any member. The broker counts the deliveries. It gives a record up after the fifth
  * (`group.share.delivery.count.limit`).
  *
  * {{{
  * val settings =
  *   ShareSettings("localhost:9092", () => StringDeserializer(), () => StringDeserializer())
  * val sent = KafkaShareConsumer(settings)
  *   .records(Set("mails"), group = "senders")
  *   .parEvalMapAccepted(64)(mail => send(mail.value))
  * }}}
  *
  * It needs brokers of version 4.2 or newer.
  */
final class KafkaShareConsumer[K, V](settings: ShareSettings[K, V]):

  /** Emits the records that this member of the group gets, and does not end. **Each record must be
    * settled**, by `parEvalMapAccepted` or by a method of the record. The next batch comes when all
    * records of the last one are settled, so do not drop records, as by `filter`.
    *
    * A record is locked for 30 seconds (`group.share.record.lock.duration.ms`). A separate thread
    * renews the locks of records that are not settled, as long as the stream runs. If a lock is
    * lost, as after a pause of the process, a record that was not emitted yet is dropped here.
    *
    * A new group begins with the records that arrive after it: see `KafkaAdmin.configureGroup`.
    *
    * **Waits** for records. **Cancelled** at once. At the end and after a cancel, settled records
    * are acknowledged, and all others are released, so that other members get them at once. If the
    * broker does not answer, that takes up to three seconds. **Fails** with a [[KafkaFailure]] as
    * `KafkaConsumer.records` does. **Order**: none.
    */
  def records(topics: Set[String], group: String): Stream[SharedRecord[K, V]] =
    require(topics.nonEmpty, "KafkaShareConsumer: there was no topic. Give one at least.")
    require(group.nonEmpty, "KafkaShareConsumer: the group was empty. Name one.")
    Stream.fromSource(SharedConsumption.open(settings, topics, group))
