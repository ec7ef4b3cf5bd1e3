package weir.kafka

import org.apache.kafka.clients.consumer.ConsumerRecord
import org.apache.kafka.common.TopicPartition
import org.apache.kafka.common.header.Headers
import weir.Task
import weir.kafka.consumer.{Assignment, BytesRecord}

/** A record that a consumer group has read. It is committed once it is `done`.
  *
  * A record that is never done is read again by the next owner of its partition. Records that are
  * done are not read again, even if they come after one that is not: see [[KafkaConsumer]].
  */
final class CommittableRecord[+K, +V] private[kafka] (
    private[kafka] val bytes: BytesRecord,
    val key: K,
    val value: V,
    private[kafka] val assignment: Assignment
):
  def headers: Headers = bytes.headers
  def topic: String = bytes.topic
  def partition: Int = bytes.partition
  def offset: Long = bytes.offset

  /** Returns the time of the record, in milliseconds since 1970. */
  def timestamp: Long = bytes.timestamp

  def topicPartition: TopicPartition = assignment.partition

  /** Returns the record as Kafka's client has it. */
  def record: ConsumerRecord[? <: K, ? <: V] = ConsumerRecord[K, V](
    topic,
    partition,
    offset,
    timestamp,
    bytes.timestampType,
    bytes.serializedKeySize,
    bytes.serializedValueSize,
    key,
    value,
    headers,
    bytes.leaderEpoch
  )

  /** Marks the record as processed. It is committed soon after, with all others that are done. If
    * its partition was revoked or lost, this has no effect: the new owner reads the record again.
    *
    * {{{
    * consumer.records(Set("orders"), "billing").evalTap(r => bill(r.value).andThen(r.done))
    * }}}
    */
  def done: Task[Unit] = Task.delay(markDone())

  private[kafka] def markDone(): Unit = assignment.done(offset)

  /** Marks the record as waiting until `begin`: a revoke does not wait for it. */
  private[kafka] def holdBack(): Unit = assignment.holdBack(offset)

  /** Returns false if this member no longer has its partition: the new owner reads it again. */
  private[kafka] def begin(): Boolean = assignment.begin(offset)

  /** Returns true if the stream is about to fail, once all others are done: it is not tried again.
    */
  private[kafka] def isLeftToNextRun: Boolean = assignment.isEnding

  override def toString: String = s"CommittableRecord($topic-$partition@$offset)"
