package weir.kafka.consumer

import java.util.{IdentityHashMap, List as JList}
import weir.kafka.{AssignedPartition, CommittableRecord, ConsumerSettings}
import weir.io.Source
import weir.{Stream, Task}

/** A queue for each partition, and one for the partitions.
  *
  * An error of the poll thread has its place in the stream of each partition. The stream of
  * partitions fails once the last of those is over: its error would cancel them.
  */
private[kafka] final class PartitionStreams[K, V](decoding: Decoding[K, V])
    extends ChunkTarget
    with Source[AssignedPartition[K, V]]:
  private val partitions = FairQueue[AssignedPartition[K, V]]()

  // under this lock
  private val queues = IdentityHashMap[Assignment, ChunkQueue]()
  private var failure: Throwable | Null = null

  def added(assignment: Assignment): Unit = synchronized {
    if failure == null then
      val queue: ChunkQueue = FairQueue(_.assignment.partition)
      queues.put(assignment, queue)
      val records = Stream.fromSource(Task.delay(Records(assignment, queue)))
      partitions.offer(AssignedPartition(assignment.partition, records))
  }

  def offer(chunks: JList[Chunk]): Unit = chunks.forEach { chunk =>
    val queue = synchronized(queues.get(chunk.assignment))
    if queue != null then queue.offer(chunk)
  }

  def hold(assignment: Assignment): Unit =
    Option(synchronized(queues.get(assignment))).foreach(_.hold(assignment.partition))

  def letGo(assignment: Assignment): Unit =
    Option(synchronized(queues.get(assignment))).foreach(_.letGo(assignment.partition))

  def removed(assignment: Assignment): Unit =
    val queue = synchronized(queues.get(assignment))
    if queue != null then
      queue.end()
      over(assignment)

  def ended(error: Throwable | Null): Unit = synchronized {
    if error != null && failure == null then failure = error
    queues.values.forEach(queue => if error == null then queue.end() else queue.fail(error))
    if error == null then queues.clear()
    if queues.isEmpty then endPartitions()
  }

  /** No more of its records are wanted. */
  private def over(assignment: Assignment): Unit = synchronized {
    queues.remove(assignment)
    if failure != null && queues.isEmpty then endPartitions()
  }

  private def endPartitions(): Unit =
    val first = failure
    if first == null then partitions.end() else partitions.fail(first)

  def next()(using Task.Direct): AssignedPartition[K, V] | Source.End =
    val taken = partitions.take()
    if taken == null then Source.End else taken

  private final class Records(assignment: Assignment, queue: ChunkQueue)
      extends Source[CommittableRecord[K, V]]:
    private val chunks = Chunks.failing(queue, decoding)(())
    def next()(using Task.Direct): CommittableRecord[K, V] | Source.End = chunks.next()
    override def close()(using Task.Direct): Unit = over(assignment)

private[kafka] object PartitionStreams:
  def open[K, V](
      settings: ConsumerSettings[K, V],
      subscription: Subscription,
      group: String,
      member: => MemberLoop
  ): Task[Source[AssignedPartition[K, V]]] = Clients.of(settings.brokers).blocking {
    val running = member
    running.begin()
    Decoding.used(settings, group, isShared = true) { decoding =>
      val target = PartitionStreams(decoding)
      val loop = Consumption.start(settings, subscription, group, target)
      running.started(loop)
      StoppingSource(target, loop, decoding)
    }
  }
