package weir.kafka

import org.apache.kafka.clients.consumer.ConsumerRecord
import org.apache.kafka.common.TopicPartition
import org.apache.kafka.common.header.Headers
import weir.Task
import weir.kafka.consumer.Assignment

/** A record that a consumer group has read, and that is committed once it is `done`.
  *
  * A record that is never done is read again by whoever has its partition next; those that are done
  * are not, also behind it: see [[KafkaConsumer]].
  */
final class CommittableRecord[+K, +V] private[kafka] (
    consumed: ConsumerRecord[? <: K, ? <: V],
    private[kafka] val assignment: Assignment
):
  def key: K = consumed.key
  def value: V = consumed.value
  def headers: Headers = consumed.headers
  def topic: String = consumed.topic
  def partition: Int = consumed.partition
  def offset: Long = consumed.offset

  /** In milliseconds since 1970. */
  def timestamp: Long = consumed.timestamp

  def topicPartition: TopicPartition = assignment.partition

  /** The record as the Kafka client has it. */
  def record: ConsumerRecord[? <: K, ? <: V] = consumed

  /** Says that the record has been processed. It is committed soon after, with all others that are
    * done. Of a partition that was revoked or lost it changes nothing: the new owner reads the
    * record again.
    *
    * {{{
    * consumer.records(Set("orders"), "billing").evalTap(r => bill(r.value).andThen(r.done))
    * }}}
    */
  def done: Task[Unit] = Task.delay(markDone())

  private[kafka] def markDone(): Unit = assignment.done(consumed.offset)

  /** It waits for its turn, until `begin`: a revoke does not wait for it. */
  private[kafka] def holdBack(): Unit = assignment.holdBack(consumed.offset)

  /** False if its partition has gone meanwhile: the new owner reads it again. */
  private[kafka] def begin(): Boolean = assignment.begin(consumed.offset)

  override def toString: String = s"CommittableRecord($topic-$partition@$offset)"
