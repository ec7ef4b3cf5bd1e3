package weir.kafka.testkit

import java.time.Duration
import java.util.concurrent.{CompletableFuture, Future}
import java.util.{List as JList, Map as JMap}
import org.apache.kafka.clients.consumer.{ConsumerGroupMetadata, OffsetAndMetadata}
import org.apache.kafka.clients.producer.{
  Callback,
  Producer,
  ProducerConfig,
  ProducerRecord,
  RecordMetadata
}
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException
import org.apache.kafka.common.metrics.KafkaMetric
import org.apache.kafka.common.serialization.Serializer
import org.apache.kafka.common.utils.Utils
import org.apache.kafka.common.{Metric, MetricName, Node, PartitionInfo, TopicPartition, Uuid}
import scala.collection.mutable
import scala.jdk.CollectionConverters.*

/** A producer of brokers in memory. What it writes in a transaction is there once that is
  * committed.
  */
private[testkit] final class MemoryProducer(
    cluster: MemoryCluster,
    properties: Map[String, String],
    key: Serializer[Any],
    value: Serializer[Any]
) extends Producer[Any, Any]:
  private val id = properties.get(ProducerConfig.TRANSACTIONAL_ID_CONFIG)

  // under this lock
  private var epoch = 0
  private var isInTransaction = false
  private val uncommitted = mutable.ArrayBuffer[() => Unit]()
  private var offsets = Map.empty[TopicPartition, OffsetAndMetadata]
  private var ofGroup: ConsumerGroupMetadata | Null = null
  private var nextPartition = 0

  def send(record: ProducerRecord[Any, Any]): Future[RecordMetadata] = send(record, null)

  def send(
      record: ProducerRecord[Any, Any],
      callback: Callback | Null
  ): Future[RecordMetadata] = synchronized {
    checkEpoch()
    val ended = CompletableFuture[RecordMetadata]()
    def end(metadata: RecordMetadata | Null, error: Exception | Null): Unit =
      if callback != null then callback.onCompletion(metadata, error)
      if error == null then ended.complete(metadata): Unit
      else ended.completeExceptionally(error): Unit
    cluster.takeSendFailure() match
      case Some(error) => end(null, error)
      case None =>
        val stored = Stored(
          Option(record.timestamp).fold(cluster.clock.nowMillis)(_.longValue),
          key.serialize(record.topic, record.headers, record.key),
          value.serialize(record.topic, record.headers, record.value),
          record.headers.asScala.toVector
        )
        val partition = partitionOf(record, stored.key)
        def write(): Unit =
          val offset = cluster.append(partition, stored)
          end(RecordMetadata(partition, offset, 0, stored.timestampMillis, 0, 0), null)
        if isInTransaction then uncommitted += (() => write()) else write()
    ended
  }

  /** As Kafka's own partitioner, but records without a key go to the partitions in turns. */
  private def partitionOf(
      record: ProducerRecord[?, ?],
      key: Array[Byte] | Null
  ): TopicPartition =
    val count = cluster.partitionCount(record.topic)
    val chosen =
      if record.partition != null then record.partition.intValue
      else if count == 0 then 0
      else if key != null then Utils.toPositive(Utils.murmur2(key)) % count
      else
        nextPartition += 1
        nextPartition % count
    if chosen >= count then
      throw UnknownTopicOrPartitionException(s"there is no ${record.topic}-$chosen")
    TopicPartition(record.topic, chosen)

  // ---- transactions ----

  def initTransactions(): Unit = synchronized {
    id.foreach(name => epoch = cluster.beginEpoch(name))
  }

  def beginTransaction(): Unit = synchronized {
    checkEpoch()
    isInTransaction = true
  }

  /** **Fails** if the member has not got the partitions, as brokers do.
    */
  def sendOffsetsToTransaction(
      offsets: JMap[TopicPartition, OffsetAndMetadata],
      group: ConsumerGroupMetadata
  ): Unit = synchronized {
    checkEpoch()
    cluster.group(group.groupId).check(group.memberId, offsets.asScala.toMap)
    this.offsets ++= offsets.asScala
    ofGroup = group
  }

  def commitTransaction(): Unit = synchronized {
    checkEpoch()
    cluster.synchronized {
      uncommitted.foreach(_())
      val group = ofGroup
      if group != null then cluster.group(group.groupId).commitUnchecked(offsets)
    }
    endTransaction()
  }

  def abortTransaction(): Unit = synchronized(endTransaction())

  private def endTransaction(): Unit =
    uncommitted.clear()
    offsets = Map.empty
    ofGroup = null
    isInTransaction = false

  private def checkEpoch(): Unit = id.foreach(cluster.checkEpoch(_, epoch))

  // ---- the rest of the interface ----

  def flush(): Unit = ()

  def partitionsFor(topic: String): JList[PartitionInfo] =
    val count = cluster.partitionCount(topic)
    if count == 0 then throw UnknownTopicOrPartitionException(s"there is no topic $topic")
    (0 until count)
      .map(PartitionInfo(topic, _, Node.noNode, Array.empty[Node], Array.empty[Node]))
      .asJava

  def registerMetricForSubscription(metric: KafkaMetric): Unit = ()
  def unregisterMetricFromSubscription(metric: KafkaMetric): Unit = ()
  def metrics(): JMap[MetricName, ? <: Metric] = java.util.Map.of()
  def clientInstanceId(timeout: Duration): Uuid = Uuid.randomUuid()
  def close(): Unit = close(Duration.ZERO)

  def close(timeout: Duration): Unit =
    try key.close()
    finally value.close()
