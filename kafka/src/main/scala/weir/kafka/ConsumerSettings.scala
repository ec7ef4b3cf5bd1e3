package weir.kafka

import java.time.Duration
import java.util.HashMap
import org.apache.kafka.clients.consumer.{ConsumerConfig, CooperativeStickyAssignor}
import org.apache.kafka.common.serialization.Deserializer
import scala.concurrent.duration.{DurationInt, FiniteDuration}
import weir.Task

/** The settings of a consumer: a member of a consumer group.
  *
  * @param brokers
  *   the brokers to ask first: `host:port`, separated by commas
  * @param key
  *   makes the deserializer of keys, for each run of a stream anew. It is configured with the
  *   properties, used for one record at a time, and closed at the end of the run
  * @param value
  *   makes the deserializer of values, in the same way
  * @param bufferRecords
  *   the number of records of a partition that may wait for the stream. At that number the
  *   partition is paused. A poll that has begun before may bring `max.poll.records` more, which are
  *   2,000 here
  * @param bufferBytes
  *   the number of bytes that waiting records may take, over all partitions of this member: those
  *   that Kafka's client has fetched, and those that wait for the stream, estimated from the
  *   average of the last polls. Each partition has an equal share. If there are many partitions, or
  *   long records, less is fetched of each at a time (`max.partition.fetch.bytes`), and fewer
  *   records of each wait. One poll may exceed it, and one batch of records of a partition
  * @param commitInterval
  *   the longest time for which a record that is done stays uncommitted
  * @param uncommittedLimit
  *   the number of records of a partition that may be done and not committed. A kill repeats at
  *   most that many records and those in flight. A commit begins at half of the limit, and the
  *   stream waits at the limit. With the defaults that happens only where a partition has more than
  *   a million records a second; otherwise the commitInterval decides, and a kill repeats the
  *   records that were done within it. [[ExactlyOnce]] does not use this setting
  * @param metadataLimitBytes
  *   the largest size of the map of records that are done beyond the committed offset. It should be
  *   at most the broker's `offset.metadata.max.bytes`. If the broker refuses the map, it is
  *   shortened. Records that no longer fit into it are repeated after a restart
  * @param revokeDeadline
  *   the longest time that a revoke waits for the records in flight, and for the commit of those
  *   that are done. It must be less than `max.poll.interval.ms`, the time for which the group waits
  *   for this member
  * @param connectTimeout
  *   the time within which the brokers must confirm, at the start, that the topics exist
  * @param startAt
  *   where a member begins to read a partition; by default at the group's commit
  * @param onAssignmentChange
  *   a task to run when this member gets or loses partitions, for example to load or write a state.
  *   The poll thread waits for it, so it should take less than `max.poll.interval.ms`. If it fails,
  *   so does the stream, also one that is about to end
  * @param properties
  *   further properties of Kafka's client, such as those for TLS and SASL, and of the
  *   deserializers, such as `schema.registry.url`. A group that has committed nothing begins with
  *   the first record of each partition, unless `startAt` names another position. With
  *   `auto.offset.reset=latest` it begins with the records that arrive after it starts to read.
  *   Then nothing is committed of a partition that has brought no record yet, so a restart skips
  *   the records that arrived meanwhile. With `StartAt(Position.Latest)` the end is committed
  */
final case class ConsumerSettings[K, V](
    brokers: String,
    key: () => Deserializer[K],
    value: () => Deserializer[V],
    groupProtocol: GroupProtocol = GroupProtocol.Classic,
    bufferRecords: Int = 20000,
    bufferBytes: Int = 64 << 20,
    commitInterval: FiniteDuration = 100.millis,
    uncommittedLimit: Int = 200000,
    metadataLimitBytes: Int = 4096,
    revokeDeadline: FiniteDuration = 10.seconds,
    connectTimeout: FiniteDuration = 8.seconds,
    startAt: StartAt = StartAt.committed,
    onAssignmentChange: AssignmentChange => Task[Any] = _ => Task.unit,
    properties: Map[String, String] = Map.empty
):
  ConsumerSettings.own.find(properties.contains).foreach { name =>
    throw IllegalArgumentException(
      s"ConsumerSettings: the property $name was ${properties(name)}. It must not be set as a " +
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
      "1 ms, and the last at least 0."
  )
  locally {
    val most = properties.getOrElse(ConsumerConfig.MAX_POLL_INTERVAL_MS_CONFIG, "300000")
    require(
      most.toLongOption.forall(revokeDeadline.toMillis < _),
      s"ConsumerSettings: the revokeDeadline was $revokeDeadline and max.poll.interval.ms $most. " +
        "The first must be less: the group waits no longer for a member that revokes partitions."
    )
  }

  /** A poll thread that is silent for that time was asleep: half of the time for which the group
    * waits for a silent member. But at most two seconds, since with the new protocol the broker
    * alone knows that time; and finding out that nothing has happened costs one commit.
    */
  private[kafka] def sleepTime: Duration =
    val session = properties.get(ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG).flatMap(_.toLongOption)
    Duration.ofMillis(session.fold(2000L)(millis => math.min(2000, math.max(1, millis / 2))))

  /** Returns the number of bytes to fetch of a partition at a time. Kafka's client holds what it
    * has fetched of each partition until a poll takes it: a quarter of `bufferBytes` is for that.
    */
  private[kafka] def fetchBytes(partitions: Int): Int =
    val share = bufferBytes / 4 / math.max(1, partitions)
    math.max(1, math.min(ConsumerConfig.DEFAULT_MAX_PARTITION_FETCH_BYTES, share))

  /** @param group
    *   empty for none
    * @param partitions
    *   the number of partitions that this member may get
    */
  private[kafka] def toKafka(group: String, partitions: Int = 1): HashMap[String, AnyRef] =
    val all = HashMap[String, AnyRef]()
    val mostBytes = math.max(1, math.min(ConsumerConfig.DEFAULT_FETCH_MAX_BYTES, bufferBytes / 4))
    all.put(ConsumerConfig.FETCH_MAX_BYTES_CONFIG, mostBytes.toString)
    all.put(ConsumerConfig.MAX_PARTITION_FETCH_BYTES_CONFIG, fetchBytes(partitions).toString)
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
    if group.nonEmpty then all.put(ConsumerConfig.GROUP_ID_CONFIG, group): Unit
    all.put(ConsumerConfig.GROUP_PROTOCOL_CONFIG, groupProtocol.id)
    all.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false")
    all

object ConsumerSettings:
  /** The properties that have a parameter, or that this decides. */
  private val instead: Map[String, String] = Map(
    ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG -> "use the parameter brokers.",
    ConsumerConfig.GROUP_ID_CONFIG -> "give the group to KafkaConsumer.records.",
    ConsumerConfig.GROUP_PROTOCOL_CONFIG -> "use the parameter groupProtocol.",
    ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG -> "only done records are committed."
  )
  private val own: Iterable[String] = instead.keys

  /** The largest number of records of a poll, unless the properties set another. Kafka's own 500
    * are for programs that process them before they poll again.
    */
  private val pollRecords = 2000
