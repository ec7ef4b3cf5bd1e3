package weir.kafka

import java.util.HashMap
import org.apache.kafka.clients.consumer.{ConsumerConfig, CooperativeStickyAssignor}
import org.apache.kafka.common.serialization.Deserializer
import scala.concurrent.duration.{DurationInt, FiniteDuration}

/** How to read as a member of a consumer group.
  *
  * @param brokers
  *   where to begin to look for the brokers: `host:port`, several with commas between
  * @param bufferRecords
  *   how many records of a partition may wait for the stream; then the partition is paused. A poll
  *   that began before may bring `max.poll.records` more, which are 2,000 here
  * @param bufferBytes
  *   how many bytes the records that wait may take, of all partitions of this member together, by
  *   the average of the last polls. Each partition has an equal part: where there are many, or
  *   records are long, fewer of each wait; here too each may have more by one poll
  * @param commitInterval
  *   how long what is done may stay uncommitted
  * @param uncommittedLimit
  *   how many records of a partition may be done and in no commit: so many, and those in flight,
  *   are what a kill repeats at most. Once half of them are, a commit begins; at the limit the
  *   stream waits. With the defaults that is only where a partition has more than a million records
  *   a second; otherwise the commitInterval decides, and a kill repeats what was done in it.
  *   [[ExactlyOnce]] has no use for it
  * @param metadataLimitBytes
  *   how long the map of what is done beyond the committed offset may be. It should be no more than
  *   the broker's `offset.metadata.max.bytes`; where that refuses, it is shortened. What no longer
  *   fits is repeated after a restart
  * @param revokeDeadline
  *   how long a revoke waits for the records that are in flight, and for the commit of what is
  *   done. It must be less than `max.poll.interval.ms`, within which the group waits for this
  *   member
  * @param connectTimeout
  *   how long the brokers may take to say, at the start, that they have the topics
  * @param properties
  *   more of Kafka's own, such as those for TLS and SASL. A group that has committed nothing begins
  *   with the first record of each partition. With `auto.offset.reset=latest` it begins with those
  *   that come once it reads; of a partition that has brought none yet nothing is committed, so a
  *   restart skips what has come meanwhile
  */
final case class ConsumerSettings[K, V](
    brokers: String,
    key: Deserializer[K],
    value: Deserializer[V],
    groupProtocol: GroupProtocol = GroupProtocol.Classic,
    bufferRecords: Int = 20000,
    bufferBytes: Int = 64 << 20,
    commitInterval: FiniteDuration = 100.millis,
    uncommittedLimit: Int = 200000,
    metadataLimitBytes: Int = 4096,
    revokeDeadline: FiniteDuration = 10.seconds,
    connectTimeout: FiniteDuration = 8.seconds,
    properties: Map[String, String] = Map.empty
):
  ConsumerSettings.own.find(properties.contains).foreach { name =>
    throw IllegalArgumentException(
      s"ConsumerSettings: the property $name was ${properties(name)}. It is not to be given as a " +
        s"property: ${ConsumerSettings.instead(name)}"
    )
  }
  require(
    bufferRecords >= 1 && bufferBytes >= 1 && uncommittedLimit >= 1 && metadataLimitBytes >= 0,
    s"ConsumerSettings: bufferRecords was $bufferRecords, bufferBytes $bufferBytes, " +
      s"uncommittedLimit $uncommittedLimit and metadataLimitBytes $metadataLimitBytes. They must " +
      "be at least 1, 1, 1 and 0."
  )
  require(
    commitInterval.toMillis >= 1 && connectTimeout.toMillis >= 1 && revokeDeadline.length >= 0,
    s"ConsumerSettings: the commitInterval was $commitInterval, the connectTimeout " +
      s"$connectTimeout and the revokeDeadline $revokeDeadline. The first two must be at least " +
      "1 ms, and the last not below 0."
  )
  locally {
    val most = properties.getOrElse(ConsumerConfig.MAX_POLL_INTERVAL_MS_CONFIG, "300000")
    require(
      most.toLongOption.forall(revokeDeadline.toMillis < _),
      s"ConsumerSettings: the revokeDeadline was $revokeDeadline and max.poll.interval.ms $most. " +
        "It must be less: the group waits no longer for a member that gives partitions back."
    )
  }

  private[kafka] def toKafka(group: String): HashMap[String, AnyRef] =
    val all = HashMap[String, AnyRef]()
    all.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest")
    all.put(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, "false")
    if groupProtocol == GroupProtocol.Classic then
      all.put(
        ConsumerConfig.PARTITION_ASSIGNMENT_STRATEGY_CONFIG,
        classOf[CooperativeStickyAssignor].getName
      ): Unit
    all.put(ConsumerConfig.MAX_POLL_RECORDS_CONFIG, ConsumerSettings.pollRecords.toString)
    properties.foreach((name, value) => all.put(name, value))
    all.put(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, brokers)
    all.put(ConsumerConfig.GROUP_ID_CONFIG, group)
    all.put(ConsumerConfig.GROUP_PROTOCOL_CONFIG, groupProtocol.id)
    all.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false")
    all

object ConsumerSettings:
  /** The properties that have a parameter, or that this decides. */
  private val instead: Map[String, String] = Map(
    ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG -> "use the parameter brokers.",
    ConsumerConfig.GROUP_ID_CONFIG -> "give the group to KafkaConsumer.records.",
    ConsumerConfig.GROUP_PROTOCOL_CONFIG -> "use the parameter groupProtocol.",
    ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG -> "what is committed is what is done."
  )
  private val own: Iterable[String] = instead.keys

  /** How many records a poll brings at most, unless the properties say. Kafka's own 500 are for
    * programs that process them before they poll again.
    */
  private val pollRecords = 2000
