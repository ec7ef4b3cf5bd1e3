package weir.kafka

import org.apache.kafka.clients.consumer.AcknowledgeType
import org.apache.kafka.common.TopicPartition
import org.apache.kafka.common.header.Headers
import weir.Task
import weir.kafka.consumer.{BytesRecord, SharedDelivery}

/** A record that was delivered to a member of a share group. It is locked for that member until it
  * is settled: accepted, released or rejected. The first of these counts. They do not wait: the
  * broker is informed a moment later. If the lock was lost before that, they have no effect, and
  * the record is delivered again.
  */
final class SharedRecord[+K, +V] private[kafka] (
    private[kafka] val delivery: SharedDelivery,
    decoded: Either[KafkaFailure, (K, V)]
):
  private[kafka] def bytes: BytesRecord = delivery.record

  /** Returns the error of a deserializer that could not read the key or the value. */
  def undecodable: Option[KafkaFailure] = decoded.left.toOption

  /** **Fails** with the error of `undecodable`: read it in the record's task.
    */
  def key: K = decoded.fold(throw _, _._1)

  /** **Fails** as `key`.
    */
  def value: V = decoded.fold(throw _, _._2)

  def headers: Headers = bytes.headers
  def topic: String = bytes.topic
  def partition: Int = bytes.partition
  def offset: Long = bytes.offset

  /** Returns the time of the record, in milliseconds since 1970. */
  def timestamp: Long = bytes.timestamp

  def topicPartition: TopicPartition = delivery.place.partition

  /** Returns the number of times that the record was delivered, this one included. */
  def deliveryCount: Int = bytes.deliveryCount.map(_.toInt).orElse(1)

  /** Settles the record as processed: it is not delivered again.
    *
    * {{{
    * consumer.records(Set("mails"), "senders").evalTap(m => send(m.value).andThen(m.accept))
    * }}}
    */
  def accept: Task[Unit] = settle(AcknowledgeType.ACCEPT)

  /** Gives the record back: it is delivered again at once, to any member. After the fifth delivery
    * (`group.share.delivery.count.limit`) the broker gives it up instead.
    */
  def release: Task[Unit] = settle(AcknowledgeType.RELEASE)

  /** Gives the record up: it is not delivered again, and this group never processes it. */
  def reject: Task[Unit] = settle(AcknowledgeType.REJECT)

  private def settle(as: AcknowledgeType): Task[Unit] = Task.delay(delivery.settle(as))

  override def toString: String = s"SharedRecord($topic-$partition@$offset)"
