package weir.kafka

import org.apache.kafka.clients.consumer.ConsumerRecord
import org.apache.kafka.common.TopicPartition
import org.apache.kafka.common.header.Headers
import weir.Task
import weir.kafka.consumer.Assignment

/** A record that a consumer group has read. It is committed once it is `done`.
  *
  * A record that is never done is read again by the next owner of its partition. Records that are
  * done are not read again, even if they come after one that is not: see [[KafkaConsumer]].
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

  /** Returns the record of the Kafka client. */
  def record: ConsumerRecord[? <: K, ? <: V] = consumed

  /** Marks the record as processed. It is committed soon after, with all others that are done. If
    * its partition was revoked or lost, this has no effect: the new owner reads the record again.
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
