package weir.kafka.consumer

import java.time.Duration as JDuration
import java.util.List as JList
import org.apache.kafka.clients.consumer.{Consumer, KafkaConsumer as Client}
import scala.concurrent.duration.FiniteDuration
import weir.kafka.{AssignedPartition, CommittableRecord, ConsumerSettings, KafkaFailure}
import weir.io.Source
import weir.{Stream, Task}

/** Begins to read: looks for the topics, then starts the poll thread. */
private[kafka] object Consumption:

  /** Returns the records of all partitions. */
  def merged[K, V](
      settings: ConsumerSettings[K, V],
      topics: Set[String],
      group: String
  ): Task[Source[CommittableRecord[K, V]]] = Task.onPlatformThread {
    val target = MergedTarget[K, V]()
    val loop = start(settings, topics, group, target)
    StoppingSource(Chunks(target.queue), loop)
  }

  /** **Waits** for the brokers. **Fails** with [[KafkaFailure]].
    */
  def start[K, V](
      settings: ConsumerSettings[K, V],
      topics: Set[String],
      group: String,
      target: ChunkTarget[K, V],
      commits: Boolean = true
  ): PollLoop[K, V] =
    require(topics.nonEmpty, "KafkaConsumer: there was no topic. Give one at least.")
    require(group.nonEmpty, "KafkaConsumer: the group was empty. Name one.")
    val explain = KafkaFailure.explain(settings.brokers, s"the group '$group'", topics)
    val consumer =
      try Client[K, V](settings.toKafka(group), settings.key, settings.value)
      catch case error: Exception => throw explain(error)
    val options = PollOptions(
      topics = topics,
      group = group,
      bufferRecords = settings.bufferRecords,
      bufferBytes = settings.bufferBytes,
      commits = commits,
      commitInterval = toJava(settings.commitInterval),
      uncommittedLimit = settings.uncommittedLimit,
      metadataLimitBytes = settings.metadataLimitBytes,
      revokeDeadline = toJava(settings.revokeDeadline),
      explain = explain
    )
    try
      topics.foreach(findTopic(consumer, _, settings))
      val loop = PollLoop(consumer, options, target)
      loop.start()
      loop
    catch
      case error: Exception =>
        consumer.close(
          org.apache.kafka.clients.consumer.CloseOptions.timeout(JDuration.ZERO)
        )
        throw explain(error)

  private def findTopic(
      consumer: Consumer[?, ?],
      topic: String,
      settings: ConsumerSettings[?, ?]
  ): Unit =
    val partitions = consumer.partitionsFor(topic, toJava(settings.connectTimeout))
    if partitions == null || partitions.isEmpty then
      throw KafkaFailure.noTopic(settings.brokers, topic)

  private def toJava(time: FiniteDuration): JDuration = JDuration.ofNanos(time.toNanos)

/** One queue for all partitions. */
private[kafka] final class MergedTarget[K, V] extends ChunkTarget[K, V]:
  val queue = FairQueue[Chunk[K, V]](_.assignment.partition)

  def added(assignment: Assignment): Unit = ()
  def offer(chunks: JList[Chunk[K, V]]): Unit = queue.offerAll(chunks)
  def removed(assignment: Assignment): Unit = ()
  def ended(error: Throwable | Null): Unit =
    if error == null then queue.end() else queue.fail(error)

/** A source that stops the poll thread when it is over. */
private[kafka] final class StoppingSource[A](elements: Source[A], loop: PollLoop[?, ?])
    extends Source[A]:
  def next()(using Task.Direct): A | Source.End = elements.next()
  override def close()(using Task.Direct): Unit = loop.stop()

/** A queue for each partition, and one for the partitions. */
private[kafka] final class PartitionStreams[K, V]()
    extends ChunkTarget[K, V]
    with Source[AssignedPartition[K, V]]:
  private val partitions = FairQueue[AssignedPartition[K, V]]()

  /** Of the poll thread. */
  private val queues = java.util.IdentityHashMap[Assignment, FairQueue[Chunk[K, V]]]()

  def added(assignment: Assignment): Unit =
    val queue = FairQueue[Chunk[K, V]]()
    queues.put(assignment, queue)
    val records = Stream.fromSource(Task.delay(Chunks(queue)))
    partitions.offer(AssignedPartition(assignment.partition, records))

  def offer(chunks: JList[Chunk[K, V]]): Unit =
    chunks.forEach(chunk => queues.get(chunk.assignment).offer(chunk))

  def removed(assignment: Assignment): Unit =
    val queue = queues.remove(assignment)
    if queue != null then queue.end()

  def ended(error: Throwable | Null): Unit =
    queues.values.forEach(queue => if error == null then queue.end() else queue.fail(error))
    queues.clear() // what is removed later has its end
    if error == null then partitions.end() else partitions.fail(error)

  def next()(using Task.Direct): AssignedPartition[K, V] | Source.End =
    val taken = partitions.take()
    if taken == null then Source.End else taken

private[kafka] object PartitionStreams:
  def open[K, V](
      settings: ConsumerSettings[K, V],
      topics: Set[String],
      group: String
  ): Task[Source[AssignedPartition[K, V]]] = Task.onPlatformThread {
    val target = PartitionStreams[K, V]()
    StoppingSource(target, Consumption.start(settings, topics, group, target))
  }
