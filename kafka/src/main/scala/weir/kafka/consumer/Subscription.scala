package weir.kafka.consumer

import java.time.Duration
import org.apache.kafka.clients.consumer.{Consumer, ConsumerRebalanceListener}
import org.apache.kafka.common.TopicPartition
import scala.jdk.CollectionConverters.*
import scala.util.matching.Regex
import weir.kafka.KafkaFailure

/** The topics or partitions that a poll thread reads. */
private[kafka] enum Subscription:
  case Topics(topics: Set[String])

  /** The topics whose whole names match, also those that are created later. */
  case Matching(pattern: Regex)

  /** Without a group: nobody else decides about them. */
  case Fixed(partitions: Set[TopicPartition])

  /** For messages. */
  def names: Set[String] = this match
    case Topics(topics) => topics
    case Matching(pattern) => Set(pattern.regex)
    case Fixed(partitions) => partitions.map(_.topic)

  /** Returns the number of partitions. **Waits** for the brokers at most for `time`. **Fails** with
    * [[KafkaFailure]] if a topic or a partition does not exist.
    */
  def count(consumer: Consumer[?, ?], brokers: String, time: Duration): Int =
    def of(topic: String): Int =
      val partitions = consumer.partitionsFor(topic, time)
      if partitions == null || partitions.isEmpty then throw KafkaFailure.noTopic(brokers, topic)
      partitions.size
    this match
      case Topics(topics) => topics.toVector.map(of).sum
      case Matching(pattern) =>
        val found = consumer.listTopics(time).asScala
        found.collect { case (topic, all) if pattern.matches(topic) => all.size }.sum
      case Fixed(partitions) =>
        for (topic, ofIt) <- partitions.groupMap(_.topic)(_.partition) do
          val count = of(topic)
          ofIt.filter(_ >= count).foreach { partition =>
            throw KafkaFailure.noPartition(brokers, topic, partition, count)
          }
        partitions.size

  /** Subscribes, or assigns the partitions; these are told to the listener at once. */
  def begin(consumer: Consumer[?, ?], listener: ConsumerRebalanceListener): Unit = this match
    case Topics(topics) => consumer.subscribe(topics.asJava, listener)
    case Matching(pattern) => consumer.subscribe(pattern.pattern, listener)
    case Fixed(partitions) =>
      consumer.assign(partitions.asJava)
      listener.onPartitionsAssigned(partitions.asJava)

private[kafka] object Subscription:
  def of(topics: Set[String] | Regex): Subscription = topics match
    case pattern: Regex => Matching(pattern)
    case names: Set[String] @unchecked =>
      require(names.nonEmpty, "KafkaConsumer: there was no topic. Give one at least.")
      Topics(names)
