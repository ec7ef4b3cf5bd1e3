package weir.kafka.consumer

import java.time.Duration as JDuration
import java.util.List as JList
import org.apache.kafka.clients.consumer.{CloseOptions, Consumer}
import scala.concurrent.duration.FiniteDuration
import weir.kafka.{CommittableRecord, ConsumerSettings, KafkaFailure, UndecodableRecord}
import weir.io.Source
import weir.Task

/** Begins to read: looks for the topics, then starts the poll thread. */
private[kafka] object Consumption:

  /** Returns the records of all partitions. */
  def merged[K, V](
      settings: ConsumerSettings[K, V],
      subscription: Subscription,
      group: String,
      member: => MemberLoop
  ): Task[Source[CommittableRecord[K, V]]] =
    started(settings, subscription, group, member)((queue, decoding, loop) =>
      Chunks.failing(queue, decoding)(loop.end())
    )

  /** Returns the records of all partitions, with those that cannot be decoded. */
  def attempted[K, V](
      settings: ConsumerSettings[K, V],
      subscription: Subscription,
      group: String,
      member: => MemberLoop
  ): Task[Source[CommittableRecord[K, V] | UndecodableRecord]] =
    started(settings, subscription, group, member)((queue, decoding, _) =>
      Chunks.attempted(queue, decoding)
    )

  private def started[K, V, R](
      settings: ConsumerSettings[K, V],
      subscription: Subscription,
      group: String,
      member: => MemberLoop
  )(
      records: (ChunkQueue, Decoding[K, V], PollLoop) => Source[R]
  ): Task[Source[R]] = Clients.of(settings.brokers).blocking {
    val running = member
    running.begin()
    val target = MergedTarget()
    Decoding.used(settings, group) { decoding =>
      val commits = group.nonEmpty
      val loop = start(settings, subscription, group, target, commits)
      running.started(loop)
      StoppingSource(records(target.queue, decoding, loop), loop, decoding)
    }
  }

  /** **Waits** for the brokers. **Fails** with [[KafkaFailure]].
    */
  def start(
      settings: ConsumerSettings[?, ?],
      subscription: Subscription,
      group: String,
      target: ChunkTarget,
      commits: Boolean = true
  ): PollLoop =
    val who = if group.isEmpty then "this consumer" else s"the group '$group'"
    val explain = KafkaFailure.explain(settings.brokers, who, subscription.names)
    try
      val (consumer, partitions) = open(settings, subscription, group)
      val options = PollOptions(
        subscription = subscription,
        group = group,
        startAt = settings.startAt,
        onAssignmentChange = settings.onAssignmentChange,
        bufferRecords = settings.bufferRecords,
        bufferBytes = settings.bufferBytes,
        fetchBytes = settings.fetchBytes(partitions),
        commits = commits,
        commitInterval = toJava(settings.commitInterval),
        uncommittedLimit = settings.uncommittedLimit,
        metadataLimitBytes = settings.metadataLimitBytes,
        revokeDeadline = toJava(settings.revokeDeadline),
        sleepTime = settings.sleepTime,
        explain = explain,
        notAssigned = KafkaFailure.notAssigned(settings.brokers, group, _),
        reopen = () => client(settings, group, partitions),
        clients = Clients.of(settings.brokers)
      )
      val loop = PollLoop(consumer, options, target)
      loop.start()
      loop
    catch case error: Exception => throw explain(error)

  private def client(
      settings: ConsumerSettings[?, ?],
      group: String,
      partitions: Int
  ): Consumer[Array[Byte], Array[Byte]] =
    Clients.of(settings.brokers).consumer(settings.toKafka(group, partitions))

  /** Looks for the topics, and returns a client and the number of their partitions. That number
    * decides how much to fetch of each, which is a property of the client: another one is made if
    * there are many.
    */
  private def open(
      settings: ConsumerSettings[?, ?],
      subscription: Subscription,
      group: String
  ): (Consumer[Array[Byte], Array[Byte]], Int) =
    def close(made: Consumer[?, ?]) = made.close(CloseOptions.timeout(JDuration.ZERO))
    val first = client(settings, group, partitions = 1)
    try
      val count = subscription.count(first, settings.brokers, toJava(settings.connectTimeout))
      if settings.fetchBytes(count) == settings.fetchBytes(1) then (first, count)
      else
        close(first)
        (client(settings, group, count), count)
    catch
      case error: Exception =>
        close(first)
        throw error

  private def toJava(time: FiniteDuration): JDuration = JDuration.ofNanos(time.toNanos)

/** One queue for all partitions. */
private[kafka] final class MergedTarget extends ChunkTarget:
  val queue = FairQueue[Chunk](_.assignment.partition)

  def added(assignment: Assignment): Unit = ()
  def offer(chunks: JList[Chunk]): Unit = queue.offerAll(chunks)
  def hold(assignment: Assignment): Unit = queue.hold(assignment.partition)
  def letGo(assignment: Assignment): Unit = queue.letGo(assignment.partition)
  def removed(assignment: Assignment): Unit = letGo(assignment)
  def ended(error: Throwable | Null): Unit =
    if error == null then queue.end() else queue.fail(error)

/** A source that stops the poll thread when it is over. */
private[kafka] final class StoppingSource[A](
    elements: Source[A],
    loop: PollLoop,
    decoding: Decoding[?, ?]
) extends Source[A]:
  def next()(using Task.Direct): A | Source.End = elements.next()
  override def close()(using Task.Direct): Unit =
    try loop.stop()
    finally decoding.close()
