package weir.kafka

import org.apache.kafka.clients.consumer.{NoOffsetForPartitionException, OffsetOutOfRangeException}
import org.apache.kafka.common.{KafkaException, TopicPartition}
import org.apache.kafka.common.config.ConfigException
import org.apache.kafka.common.errors.{
  AuthenticationException,
  AuthorizationException,
  FencedInstanceIdException,
  GroupIdNotFoundException,
  InconsistentGroupProtocolException,
  InvalidProducerEpochException,
  InvalidTopicException,
  ProducerFencedException,
  RecordTooLargeException,
  TimeoutException,
  UnknownTopicOrPartitionException,
  UnsupportedVersionException
}
import scala.jdk.CollectionConverters.*
import weir.kafka.consumer.BytesRecord

/** An error in the use of Kafka. The message says what happened, the rule, and what to do. Its
  * cause is the error of Kafka's client.
  */
final class KafkaFailure(message: String, cause: Throwable | Null = null)
    extends RuntimeException(message, cause):

  /** Returns true if the brokers do not allow this program to use a topic, a group or a
    * transactional id. A right may have been taken away for a moment, so a program may try again:
    *
    * {{{
    * val aWhile = Schedule.spaced(10.seconds).upTo(10.minutes).resetAfter(1.minute)
    * work.retryWhen(aWhile) { case failure: KafkaFailure => failure.isRefusal; case _ => false }
    * }}}
    */
  def isRefusal: Boolean = KafkaFailure.causes(this).exists(_.isInstanceOf[AuthorizationException])

private[kafka] object KafkaFailure:
  def noTopic(brokers: String, topic: String): KafkaFailure = KafkaFailure(
    s"Kafka at $brokers has no topic '$topic'. Create it first, or check the name."
  )

  def noPartition(brokers: String, topic: String, partition: Int, count: Int): KafkaFailure =
    KafkaFailure(
      s"Kafka at $brokers has $count partitions of the topic '$topic', from 0 on. A record was " +
        s"for partition $partition."
    )

  def notAssigned(brokers: String, group: String, partitions: Set[TopicPartition]): KafkaFailure =
    KafkaFailure(
      s"The member of the group '$group' of Kafka at $brokers does not have the partitions " +
        s"${partitions.toVector.map(_.toString).sorted.mkString(", ")}. It can only change those " +
        "that it has: see GroupMember.assigned."
    )

  /** @param part the key or the value
    */
  def undecodable(
      brokers: String,
      record: BytesRecord,
      part: String,
      error: Exception
  ): KafkaFailure = KafkaFailure(
    s"Kafka at $brokers has a record in ${record.topic}-${record.partition} at offset " +
      s"${record.offset} whose $part its deserializer cannot read: $error. To go on " +
      "after such records, use recordsAttempted, with parEvalMapByKey and Attempts that have " +
      "dead letters.",
    error
  )

  /** Returns the error, and the causes of it. */
  def causes(error: Throwable): Iterator[Throwable] =
    Iterator.iterate(error)(_.getCause).takeWhile(_ != null)

  /** Returns true if the brokers have answered that there is no such topic. A producer's send waits
    * for it, and fails with a `TimeoutException` in the end.
    */
  def isNoTopic(error: Throwable): Boolean =
    causes(error).exists(_.isInstanceOf[UnknownTopicOrPartitionException])

  /** Returns the exception to throw for an error of the client.
    *
    * @param who
    *   the client in words, such as "the group 'billing'"
    */
  def explain(brokers: String, who: String, topics: Set[String])(error: Throwable): Throwable =
    val named = topics.toVector.sorted.map(topic => s"'$topic'").mkString(", ")
    def because(text: String) = KafkaFailure(s"Kafka at $brokers $text", error)
    def said = Option(error.getMessage).fold(error.toString)(_.stripSuffix("."))
    error match
      case failure: KafkaFailure => failure
      case _: AuthenticationException =>
        because(s"refused the credentials: $said. Check the properties sasl.* and ssl.*.")
      case _: AuthorizationException =>
        because(s"does not allow $who to use $named: $said. Grant it the rights.")
      case _: (InconsistentGroupProtocolException | GroupIdNotFoundException) =>
        because(
          s"refused $who: a program uses the same group with another protocol or strategy " +
            s"($said). Choose another group, or give all members the same group protocol and " +
            "partition.assignment.strategy."
        )
      case _: FencedInstanceIdException =>
        because(
          s"refused $who: another member has the same group.instance.id. Give each its own."
        )
      case _: (ProducerFencedException | InvalidProducerEpochException) =>
        because(
          s"refused $who: another producer has the same transactional id. Give each its own."
        )
      case _: UnsupportedVersionException =>
        because(s"is too old for this: $said. Use GroupProtocol.Classic, or a newer broker.")
      case _: InvalidTopicException => because(s"does not accept $named as names of topics: $said.")
      case _ if isNoTopic(error) =>
        because(s"has no topic $named. Create it first, or check the name.")
      case missing: NoOffsetForPartitionException =>
        because(
          s"has no committed offset of $who for ${namesOf(missing.partitions)}, and " +
            "auto.offset.reset is none. Commit one first, or set auto.offset.reset to earliest " +
            "or latest."
        )
      case gone: OffsetOutOfRangeException =>
        because(
          s"does not have the records that come next for $who in " +
            s"${placesOf(gone.offsetOutOfRangePartitions)}: they were deleted before they were " +
            "read, or the topic was made anew. To go on with the first ones that are there, set " +
            "auto.offset.reset to earliest."
        )
      case _: RecordTooLargeException =>
        because(
          s"does not take a record: $said. Make it smaller, or allow it: by max.request.size of " +
            "the producer, and by max.message.bytes of the topic."
        )
      case _: TimeoutException =>
        because(
          s"did not answer in time ($said). Check the address, and that it speaks this " +
            "security.protocol."
        )
      case _: ConfigException => because(s"cannot be used: $said.")
      case other if other.getCause.isInstanceOf[ConfigException] =>
        because(s"cannot be used: ${other.getCause.nn.getMessage.stripSuffix(".")}.")
      // A producer that has failed refuses all further calls, by an error that has the first one.
      case other: KafkaException if other.getCause.isInstanceOf[KafkaException] =>
        explain(brokers, who, topics)(other.getCause)
      case other => other

  private def namesOf(partitions: java.util.Collection[TopicPartition]): String =
    partitions.asScala.toVector.map(_.toString).sorted.mkString(", ")

  private def placesOf(offsets: java.util.Map[TopicPartition, java.lang.Long]): String =
    offsets.asScala.toVector.map((at, offset) => s"$at at offset $offset").sorted.mkString(", ")
