package weir.kafka.consumer

import java.time.Duration
import java.util.concurrent.atomic.AtomicBoolean
import java.util.concurrent.locks.LockSupport
import java.util.{Collection, HashMap}
import org.apache.kafka.clients.consumer.{
  CloseOptions,
  Consumer,
  ConsumerGroupMetadata,
  ConsumerRebalanceListener,
  ConsumerRecords
}
import org.apache.kafka.common.TopicPartition
import org.apache.kafka.common.errors.{RetriableException, WakeupException}
import scala.jdk.CollectionConverters.*
import scala.util.control.NonFatal

/** The thread that polls: it alone calls the consumer, whatever the streams do. README.md has what
  * it shares with them.
  *
  * {{{
  * run:  pause, resume -> commit what is due -> poll -> deliver -> again
  *                                               +-- callbacks: assigned, revoked, lost
  * stop: hand out no more -> commit -> leave the group
  * }}}
  */
private[kafka] final class PollLoop[K, V](
    consumer: Consumer[K, V],
    options: PollOptions,
    target: ChunkTarget[K, V]
) extends Poller:
  // shared
  @volatile private var isStopping = false
  @volatile private var commitIsUrgent = false
  @volatile private var metadata: ConsumerGroupMetadata | Null = null
  private val isWoken = AtomicBoolean()

  // poll thread only
  private val owned = HashMap[TopicPartition, Assignment]()
  private val commits = Commits(consumer, options.metadataLimitBytes)
  private var lastCommitNanos = System.nanoTime()

  private val thread =
    Thread.ofPlatform().daemon().name(s"weir-kafka-poll-${options.group}").unstarted(() => run())

  def start(): Unit = thread.start()

  /** **Waits** until the thread has committed, has left the group and has ended.
    */
  def stop(): Unit =
    isStopping = true
    consumer.wakeup()
    unpark()
    thread.join()

  /** Of the group as it was when the last poll ended. An assignment that was `isOwned` after this
    * was read belongs to it.
    */
  def groupMetadata: ConsumerGroupMetadata | Null = metadata

  def wake(): Unit = if isWoken.compareAndSet(false, true) then consumer.wakeup()

  def commitSoon(): Unit =
    commitIsUrgent = true
    wake()

  def unpark(): Unit = Poller.unpark(thread)

  // ---- the poll thread ----

  private def run(): Unit =
    try
      consumer.subscribe(options.topics.asJava, listener)
      while !isStopping do turn()
      finish(commitsFirst = true)
      target.ended(null)
    catch
      case error: Throwable =>
        try finish(commitsFirst = NonFatal(error))
        catch case later: Throwable => if later ne error then error.addSuppressed(later)
        target.ended(options.explain(error))

  private def turn(): Unit =
    pauseAndResume()
    if options.commits then commitIfDue()
    try deliver(consumer.poll(options.pollTime))
    catch
      case _: WakeupException => ()
      case _: RetriableException => Thread.sleep(options.pollTime)
    isWoken.set(false)
    metadata = consumer.groupMetadata

  /** `isPaused` is written before what is buffered is read again; the reader counts before it reads
    * `isPaused`. So either the poll thread sees that there is room, or the reader wakes it.
    */
  private def pauseAndResume(): Unit = owned.forEach { (partition, assignment) =>
    val most = assignment.mostBuffered(options.bufferRecords, options.bufferBytes)
    if !assignment.isPaused && assignment.buffered >= most then
      assignment.pauseUntil(most / 2)
      consumer.pause(java.util.List.of(partition))
    if assignment.isPaused && assignment.hasRoom then
      assignment.resume()
      consumer.resume(java.util.List.of(partition))
  }

  private def deliver(records: ConsumerRecords[K, V]): Unit =
    val next = records.nextOffsets
    records.partitions.forEach { partition =>
      val chunk = records.records(partition)
      val position = next.get(partition)
      val after = if position == null then -1L else position.offset
      Option(owned.get(partition)).foreach { assignment =>
        var current = assignment
        var toHandOut = current.deliver(chunk, after)
        if toHandOut == null then // the broker has lost records, or the offsets were reset
          current = replace(assignment)
          toHandOut = current.deliver(chunk, after)
        if toHandOut != null && !toHandOut.isEmpty then target.offer(Chunk(current, toHandOut))
      }
    }
    next.forEach { (partition, position) =>
      val assignment = owned.get(partition)
      if assignment != null then assignment.moveTo(position.offset)
    }

  private def replace(assignment: Assignment): Assignment =
    assignment.release()
    target.removed(assignment)
    add(assignment.partition, None)

  private def add(partition: TopicPartition, restored: Option[DoneMap]): Assignment =
    val assignment = Assignment(partition, restored, options.uncommittedLimit, this)
    owned.put(partition, assignment)
    target.added(assignment)
    assignment

  private def commitIfDue(): Unit =
    val now = System.nanoTime()
    if !commits.isUnderWay &&
      (commitIsUrgent || now - lastCommitNanos >= options.commitInterval.toNanos)
    then
      commitIsUrgent = false
      lastCommitNanos = now
      commits.begin(owned.values)

  private object listener extends ConsumerRebalanceListener:
    def onPartitionsAssigned(partitions: Collection[TopicPartition]): Unit =
      if !partitions.isEmpty then
        val committed = commits.committed(partitions)
        partitions.forEach { partition =>
          val before = Option(committed.get(partition))
          add(partition, before.flatMap(at => DoneMap.decode(at.offset, at.metadata))): Unit
        }
      metadata = consumer.groupMetadata

    def onPartitionsRevoked(partitions: Collection[TopicPartition]): Unit =
      val leaving = assignmentsOf(partitions)
      leaving.foreach { assignment =>
        assignment.close()
        target.removed(assignment)
      }
      awaitInFlight(leaving)
      if options.commits then commits.commitNow(leaving.asJava, options.commitTime)
      forget(leaving)

    override def onPartitionsLost(partitions: Collection[TopicPartition]): Unit =
      val lost = assignmentsOf(partitions)
      lost.foreach { assignment =>
        assignment.release()
        target.removed(assignment)
      }
      forget(lost)

  private def assignmentsOf(partitions: Collection[TopicPartition]): Vector[Assignment] =
    partitions.asScala.iterator.flatMap(partition => Option(owned.get(partition))).toVector

  private def forget(assignments: Vector[Assignment]): Unit = assignments.foreach { assignment =>
    assignment.release()
    owned.remove(assignment.partition, assignment): Unit
  }

  /** Meanwhile what is done is committed, of the partitions that stay too: their streams go on. */
  private def awaitInFlight(leaving: Vector[Assignment]): Unit =
    val deadline = System.nanoTime() + options.revokeDeadline.toNanos
    var nextCommit = System.nanoTime() + options.commitInterval.toNanos
    while !isStopping && leaving.exists(_.inFlight > 0) && System.nanoTime() - deadline < 0 do
      LockSupport.parkNanos(5_000_000)
      if options.commits && (commitIsUrgent || System.nanoTime() - nextCommit >= 0) then
        commitIsUrgent = false
        commits.commitNow(owned.values, options.commitInterval)
        nextCommit = System.nanoTime() + options.commitInterval.toNanos

  /** Nothing is waited for: the streams are over. */
  private def finish(commitsFirst: Boolean): Unit =
    isStopping = true
    owned.values.forEach(_.close())
    try
      if commitsFirst && options.commits then commits.commitNow(owned.values, options.commitTime)
    finally consumer.close(CloseOptions.timeout(options.commitTime))

/** @param pollTime
  *   how long a poll waits for records
  * @param commitTime
  *   how long a commit may take where something waits for it
  */
private[kafka] final case class PollOptions(
    topics: Set[String],
    group: String,
    bufferRecords: Int,
    bufferBytes: Int,
    commits: Boolean,
    commitInterval: Duration,
    uncommittedLimit: Int,
    metadataLimitBytes: Int,
    revokeDeadline: Duration,
    explain: Throwable => Throwable
):
  def pollTime: Duration =
    val most = Duration.ofMillis(100)
    if commits && commitInterval.compareTo(most) < 0 then commitInterval else most

  val commitTime: Duration = Duration.ofSeconds(3)

/** Where a poll thread puts what it gets. Its methods are called by that thread. */
private[kafka] trait ChunkTarget[K, V]:
  def added(assignment: Assignment): Unit
  def offer(chunk: Chunk[K, V]): Unit

  /** No more chunks of it come. */
  def removed(assignment: Assignment): Unit

  /** The thread ends, with an error unless it was asked to. */
  def ended(error: Throwable | Null): Unit
