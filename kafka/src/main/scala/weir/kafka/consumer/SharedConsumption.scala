package weir.kafka.consumer

import java.time.Duration
import org.apache.kafka.clients.consumer.{
  AcknowledgeType,
  CloseOptions,
  KafkaConsumer as ConsumerClient,
  KafkaShareConsumer as ShareClient
}
import org.apache.kafka.common.errors.{CorruptRecordException, UnsupportedVersionException}
import org.apache.kafka.common.serialization.ByteArrayDeserializer
import weir.Task
import weir.io.Source
import weir.kafka.{KafkaFailure, ShareSettings, SharedRecord}

/** Begins to read as members of a share group: looks for the topics, then starts the threads. */
private[kafka] object SharedConsumption:
  def open[K, V](
      settings: ShareSettings[K, V],
      topics: Set[String],
      group: String
  ): Task[Source[SharedRecord[K, V]]] = Task.onPlatformThread {
    val explain = explained(settings.brokers, group, topics)
    Decoding.used(settings, group) { decoding =>
      try
        look(settings, topics, group)
        val queue = FairQueue[SharedDelivery]()
        val interval = Duration.ofMillis(settings.pollIntervalMillis)
        val loops = clients(settings, group).map(ShareLoop(_, topics, queue, explain, interval))
        loops.foreach(_.start(s"weir-kafka-share-$group"))
        SharedSource(queue, decoding, loops)
      catch case error: Exception => throw explain(error)
    }
  }

  /** If one cannot be made, the others are closed: their threads have started. */
  private def clients(settings: ShareSettings[?, ?], group: String) =
    var made = Vector.empty[ShareClient[Array[Byte], Array[Byte]]]
    def next() =
      ShareClient(settings.toKafka(group), ByteArrayDeserializer(), ByteArrayDeserializer())
    try
      while made.size < settings.clients do made :+= next()
      made
    catch
      case error: Exception =>
        made.foreach(_.close(Duration.ZERO))
        throw error

  /** A member of a share group would wait for a topic that does not exist. **Fails** with
    * [[KafkaFailure]].
    */
  private def look(settings: ShareSettings[?, ?], topics: Set[String], group: String): Unit =
    val properties = settings.toKafka(group)
    List("group.id", "share.acknowledgement.mode", "share.acquire.mode").foreach(properties.remove)
    val client = ConsumerClient(properties, ByteArrayDeserializer(), ByteArrayDeserializer())
    try
      val time = Duration.ofNanos(settings.connectTimeout.toNanos)
      Subscription.Topics(topics).count(client, settings.brokers, time): Unit
    finally client.close(CloseOptions.timeout(Duration.ZERO))

  private def explained(brokers: String, group: String, topics: Set[String])(
      error: Throwable
  ): Throwable = error match
    case _: UnsupportedVersionException =>
      KafkaFailure(
        s"Kafka at $brokers has no share groups: ${error.getMessage}. They need brokers of " +
          "version 4.2 or newer, with the feature share.version.",
        error
      )
    case _: CorruptRecordException =>
      KafkaFailure(
        s"Kafka at $brokers has damaged records: ${error.getMessage}. Kafka's client rejects the " +
          s"batch that has them: the share group '$group' does not get it, after the next start " +
          "either. Look at the disks of the brokers, and send these records again.",
        error
      )
    case _ => KafkaFailure.explain(brokers, s"the share group '$group'", topics)(error)

/** Hands out the records of a share group, and stops its members when it is over. */
private final class SharedSource[K, V](
    queue: FairQueue[SharedDelivery],
    decoding: Decoding[K, V],
    loops: Vector[ShareLoop]
) extends Source[SharedRecord[K, V]]:
  def next()(using Task.Direct): SharedRecord[K, V] | Source.End =
    var found: SharedRecord[K, V] | Source.End | Null = null
    while found == null do
      val delivery = queue.take()
      if delivery == null then found = Source.End
      else if System.currentTimeMillis() < delivery.lockedUntilMillis then
        found = SharedRecord(delivery, decoding.decoded(delivery.record))
      else delivery.settle(AcknowledgeType.RELEASE) // another member may have it already
    found

  override def close()(using Task.Direct): Unit =
    try
      loops.foreach(_.stop())
      loops.foreach(_.join())
    finally decoding.close()
