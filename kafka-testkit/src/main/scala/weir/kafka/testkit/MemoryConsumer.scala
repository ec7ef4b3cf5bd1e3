package weir.kafka.testkit

import java.lang.Long as JLong
import java.time.Duration
import java.util.concurrent.atomic.AtomicBoolean
import java.util.regex.Pattern
import java.util.{Collection, List as JList, Map as JMap, Optional, OptionalLong, Set as JSet}
import org.apache.kafka.clients.consumer.*
import org.apache.kafka.common.errors.{TimeoutException, WakeupException}
import org.apache.kafka.common.header.internals.RecordHeaders
import org.apache.kafka.common.metrics.KafkaMetric
import org.apache.kafka.common.record.TimestampType
import org.apache.kafka.common.{Metric, MetricName, Node, PartitionInfo, TopicPartition, Uuid}
import scala.collection.mutable
import scala.jdk.CollectionConverters.*

/** A consumer of brokers in memory: what Weir's poll thread needs of Kafka's interface. One thread
  * uses it, but for `wakeup`.
  */
private[testkit] final class MemoryConsumer(
    cluster: MemoryCluster,
    properties: Map[String, String]
) extends Consumer[Array[Byte], Array[Byte]]:
  import MemoryConsumer.*

  private val groupName = properties.getOrElse(ConsumerConfig.GROUP_ID_CONFIG, "")
  private lazy val group = cluster.group(groupName)
  private val mostRecords =
    properties.get(ConsumerConfig.MAX_POLL_RECORDS_CONFIG).fold(500)(_.toInt)
  private val sessionMillis =
    properties.get(ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG).fold(45000L)(_.toLong)
  private val isWoken = AtomicBoolean()

  private var seat: GroupSeat | Null = null
  private var listener: ConsumerRebalanceListener | Null = null
  private var wanted: String => Boolean = _ => false
  private var fixed = Set.empty[TopicPartition]

  /** The partitions of which the listener knows. */
  private var known = Set.empty[TopicPartition]
  private val positions = mutable.HashMap[TopicPartition, Long]()
  private val pausedOnes = mutable.HashSet[TopicPartition]()
  private val callbacks = mutable.Queue[() => Unit]()

  // ---- the group ----

  def subscribe(topics: Collection[String], listener: ConsumerRebalanceListener): Unit =
    join(topics.asScala.toSet, listener)

  def subscribe(pattern: Pattern, listener: ConsumerRebalanceListener): Unit =
    join(topic => pattern.matcher(topic).matches, listener)

  private def join(topics: String => Boolean, listener: ConsumerRebalanceListener): Unit =
    this.listener = listener
    wanted = topics
    seat = group.join(topics, sessionMillis)

  def assign(partitions: Collection[TopicPartition]): Unit =
    fixed = partitions.asScala.toSet
    known = fixed

  def assignment(): JSet[TopicPartition] = known.asJava

  @annotation.nowarn("cat=deprecation") // there is no other way to make one
  def groupMetadata(): ConsumerGroupMetadata =
    val mine = seat
    if mine == null then ConsumerGroupMetadata(groupName)
    else ConsumerGroupMetadata(groupName, mine.generation, mine.id, Optional.empty)

  /** Hears what the group has decided. */
  private def reconcile(): Unit =
    val (mine, told) = (seat, listener)
    if mine != null && told != null && mine.cutOffNanos.isEmpty then
      if mine.isExpired then
        val lost = known
        remove(lost)
        if lost.nonEmpty then told.onPartitionsLost(lost.asJava)
        seat = group.join(wanted, sessionMillis)
      else
        val leaving = group.toRevoke(mine)
        if leaving.nonEmpty then
          told.onPartitionsRevoked(leaving.asJava)
          remove(leaving)
          group.giveUp(mine, leaving)
        val added = group.take(mine)
        if added.nonEmpty then
          known ++= added
          told.onPartitionsAssigned(added.asJava)

  private def remove(partitions: Set[TopicPartition]): Unit =
    known --= partitions
    positions --= partitions
    pausedOnes --= partitions

  // ---- polls ----

  def poll(timeout: Duration): ConsumerRecords[Array[Byte], Array[Byte]] =
    val deadline = cluster.clock.nanoTime + timeout.toNanos
    var found: ConsumerRecords[Array[Byte], Array[Byte]] | Null = null
    while found == null do
      runCallbacks()
      reconcile()
      if isWoken.getAndSet(false) then throw WakeupException()
      failIfAsked()
      val records = if isCutOff then Empty else fetch()
      val left = deadline - cluster.clock.nanoTime
      if !records.isEmpty || left <= 0 then found = records
      else awaitChange(left)
    found

  private def runCallbacks(): Unit =
    while callbacks.nonEmpty do callbacks.dequeue()()

  private def failIfAsked(): Unit = cluster.synchronized {
    val mine = seat
    if mine != null && mine.pollFailures.nonEmpty then throw mine.pollFailures.dequeue()
  }

  private def isCutOff: Boolean = cluster.synchronized {
    val mine = seat
    mine != null && mine.cutOffNanos.nonEmpty
  }

  /** A wake-up that comes before the wait ends it too. */
  private def awaitChange(nanos: Long): Unit =
    if !isWoken.get then cluster.await(math.min(nanos, mostWaitNanos))

  private def fetch(): ConsumerRecords[Array[Byte], Array[Byte]] =
    val found = mutable.LinkedHashMap[TopicPartition, JList[BytesRecord]]()
    var room = mostRecords
    for partition <- known.toVector.sortBy(_.toString) if !pausedOnes(partition) && room > 0 do
      val from = positionOf(partition)
      val records = cluster.read(partition, from, room)
      if records.nonEmpty then
        room -= records.size
        positions(partition) = from + records.size
        found(partition) =
          records.zipWithIndex.map((r, n) => recordOf(partition, from + n, r)).asJava
    val nexts = found.keys.map(at => at -> OffsetAndMetadata(positions(at))).toMap
    if found.isEmpty then Empty else ConsumerRecords(found.asJava, nexts.asJava)

  private def recordOf(partition: TopicPartition, offset: Long, stored: Stored): BytesRecord =
    ConsumerRecord(
      partition.topic,
      partition.partition,
      offset,
      stored.timestampMillis,
      TimestampType.CREATE_TIME,
      if stored.key == null then -1 else stored.key.length,
      if stored.value == null then -1 else stored.value.length,
      stored.key,
      stored.value,
      RecordHeaders(stored.headers.asJava),
      Optional.empty
    )

  private def positionOf(partition: TopicPartition): Long =
    positions.getOrElseUpdate(partition, beginOf(partition))

  private def beginOf(partition: TopicPartition): Long =
    val committed = if groupName.isEmpty then None else group.offsets.get(partition)
    committed.map(_.offset).getOrElse {
      properties.getOrElse(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "latest") match
        case "earliest" => 0
        case "none" => throw NoOffsetForPartitionException(partition)
        case _ => cluster.end(partition)
    }

  def wakeup(): Unit =
    isWoken.set(true)
    cluster.changed()

  def pause(partitions: Collection[TopicPartition]): Unit = pausedOnes ++= partitions.asScala: Unit
  def resume(partitions: Collection[TopicPartition]): Unit = pausedOnes --= partitions.asScala: Unit
  def paused(): JSet[TopicPartition] = pausedOnes.toSet.asJava
  def seek(partition: TopicPartition, offset: Long): Unit = positions(partition) = offset

  def position(partition: TopicPartition, timeout: Duration): Long =
    awaitBrokers(timeout)
    positionOf(partition)

  // ---- commits ----

  def commitSync(offsets: JMap[TopicPartition, OffsetAndMetadata], timeout: Duration): Unit =
    awaitBrokers(timeout)
    commit(offsets)

  def commitAsync(
      offsets: JMap[TopicPartition, OffsetAndMetadata],
      callback: OffsetCommitCallback
  ): Unit =
    val sent = offsets.asScala.toMap.asJava
    val error =
      try
        if isCutOff then throw RetriableCommitFailedException(s"${seat.nn.id} is cut off")
        commit(sent)
        null
      catch case error: Exception => error
    callbacks.enqueue(() => callback.onComplete(sent, error)): Unit

  private def commit(offsets: JMap[TopicPartition, OffsetAndMetadata]): Unit =
    val mine = seat
    if mine == null then group.commitUnchecked(offsets.asScala.toMap)
    else group.commit(mine, offsets.asScala.toMap)

  def committed(
      partitions: JSet[TopicPartition],
      timeout: Duration
  ): JMap[TopicPartition, OffsetAndMetadata] =
    awaitBrokers(timeout)
    val all = group.offsets
    partitions.asScala.map(at => at -> all.get(at).orNull).toMap.asJava

  /** **Waits** while it is cut off, and fails after `timeout`.
    */
  private def awaitBrokers(timeout: Duration): Unit =
    val deadline = cluster.clock.nanoTime + timeout.toNanos
    while isCutOff do
      if isWoken.getAndSet(false) then throw WakeupException()
      val left = deadline - cluster.clock.nanoTime
      if left <= 0 then throw TimeoutException(s"${seat.nn.id} is cut off")
      awaitChange(left)

  // ---- topics ----

  def partitionsFor(topic: String, timeout: Duration): JList[PartitionInfo] =
    (0 until cluster.partitionCount(topic)).map { partition =>
      PartitionInfo(topic, partition, Node.noNode, Array.empty[Node], Array.empty[Node])
    }.asJava

  def listTopics(timeout: Duration): JMap[String, JList[PartitionInfo]] =
    cluster.names.map(topic => topic -> partitionsFor(topic, timeout)).toMap.asJava

  def beginningOffsets(
      partitions: Collection[TopicPartition],
      timeout: Duration
  ): JMap[TopicPartition, JLong] =
    awaitBrokers(timeout)
    partitions.asScala.map(_ -> JLong.valueOf(0)).toMap.asJava

  def endOffsets(
      partitions: Collection[TopicPartition],
      timeout: Duration
  ): JMap[TopicPartition, JLong] =
    awaitBrokers(timeout)
    partitions.asScala.map(at => at -> JLong.valueOf(cluster.end(at))).toMap.asJava

  def offsetsForTimes(
      times: JMap[TopicPartition, JLong],
      timeout: Duration
  ): JMap[TopicPartition, OffsetAndTimestamp] =
    awaitBrokers(timeout)
    times.asScala.toMap.map { (partition, time) =>
      val all = cluster.read(partition, 0, Int.MaxValue)
      val index = all.indexWhere(_.timestampMillis >= time)
      partition ->
        (if index < 0 then null else OffsetAndTimestamp(index, all(index).timestampMillis))
    }.asJava

  // ---- the end ----

  def close(options: CloseOptions): Unit =
    val (mine, told) = (seat, listener)
    if mine != null then
      if known.nonEmpty && !mine.isExpired && told != null then
        told.onPartitionsRevoked(known.asJava)
      group.leave(mine)
      seat = null
    known = Set.empty

  // ---- the rest of the interface ----

  def subscription(): JSet[String] = cluster.names.filter(wanted).toSet.asJava
  def subscribe(topics: Collection[String]): Unit = unused
  def subscribe(pattern: Pattern): Unit = unused
  def subscribe(pattern: SubscriptionPattern): Unit = unused
  def subscribe(pattern: SubscriptionPattern, listener: ConsumerRebalanceListener): Unit = unused
  def unsubscribe(): Unit = unused
  def commitSync(): Unit = unused
  def commitSync(timeout: Duration): Unit = unused
  def commitSync(offsets: JMap[TopicPartition, OffsetAndMetadata]): Unit = unused
  def commitAsync(): Unit = unused
  def commitAsync(callback: OffsetCommitCallback): Unit = unused
  def registerMetricForSubscription(metric: KafkaMetric): Unit = ()
  def unregisterMetricFromSubscription(metric: KafkaMetric): Unit = ()
  def seek(partition: TopicPartition, offset: OffsetAndMetadata): Unit =
    seek(partition, offset.offset)
  def seekToBeginning(partitions: Collection[TopicPartition]): Unit = unused
  def seekToEnd(partitions: Collection[TopicPartition]): Unit = unused
  def position(partition: TopicPartition): Long = unused
  def committed(partitions: JSet[TopicPartition]): JMap[TopicPartition, OffsetAndMetadata] = unused
  def clientInstanceId(timeout: Duration): Uuid = unused
  def metrics(): JMap[MetricName, ? <: Metric] = java.util.Map.of()
  def partitionsFor(topic: String): JList[PartitionInfo] = unused
  def listTopics(): JMap[String, JList[PartitionInfo]] = unused
  def offsetsForTimes(
      times: JMap[TopicPartition, JLong]
  ): JMap[TopicPartition, OffsetAndTimestamp] = unused
  def beginningOffsets(partitions: Collection[TopicPartition]): JMap[TopicPartition, JLong] =
    unused
  def endOffsets(partitions: Collection[TopicPartition]): JMap[TopicPartition, JLong] = unused
  def currentLag(partition: TopicPartition): OptionalLong = OptionalLong.empty
  def enforceRebalance(): Unit = unused
  def enforceRebalance(reason: String): Unit = unused
  def close(): Unit = unused
  def close(timeout: Duration): Unit = unused

  /** Weir's poll thread calls the forms with a time limit. */
  private def unused: Nothing =
    throw UnsupportedOperationException("TestKafka: Weir does not call this method of consumers.")

private object MemoryConsumer:
  private type BytesRecord = ConsumerRecord[Array[Byte], Array[Byte]]
  private val Empty = ConsumerRecords.empty[Array[Byte], Array[Byte]]

  /** It looks for members that the group no longer waits for, which nothing tells it of. */
  private val mostWaitNanos = 100_000_000L
