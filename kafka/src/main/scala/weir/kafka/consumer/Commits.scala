package weir.kafka.consumer

import java.time.Duration
import java.util.{Collection, HashMap, HashSet, Map as JMap}
import org.apache.kafka.clients.consumer.{Consumer, OffsetAndMetadata}
import org.apache.kafka.common.TopicPartition
import org.apache.kafka.common.errors.{OffsetMetadataTooLarge, RetriableException, WakeupException}
import scala.jdk.CollectionConverters.*

/** Commits the offsets of a poll thread when that is due, and reads the offsets committed before.
  * Only the poll thread calls it.
  *
  * A commit that fails because the group has changed, or the broker is away, changes nothing. The
  * next commit, a moment later, says the same; if the partition is lost, none does.
  */
private[kafka] final class Commits(
    consumer: => Consumer[?, ?],
    options: PollOptions,
    isStopping: () => Boolean
):
  import Assignment.ToCommit

  private val clock: PollClock = options.clients
  private val questions = Questions(clock, isStopping)

  /** The longest time for which done records stay uncommitted while no reader waits. */
  private val interval = options.commitInterval
  private var metadataLimit = options.metadataLimitBytes
  private var failure: Throwable | Null = null

  /** The number of commits that have no answer yet; the latest that was sent, and when. */
  private var underWay = 0
  private var latest = Vector.empty[ToCommit]
  private var begunNanos = 0L

  /** The time at which the next commit is due by the interval. */
  private var nextNanos = clock.nanoTime + interval.toNanos

  /** The time before which no commit begins, since the last one has failed. */
  private var notBeforeNanos = clock.nanoTime

  /** The end of all waiting after a stop; -1 before. */
  private var stopNanos = -1L

  def isUnderWay: Boolean = underWay > 0

  /** Called when another client is used: nothing that is under way has an answer. */
  def forget(): Unit = underWay = 0

  /** Returns true if the broker may have stalled. It answers commits in their order. So the next
    * one does not wait for the answer to this one: the broker may find it before it finds that the
    * members of the group have been silent for too long.
    */
  private def isLate: Boolean = age.compareTo(Commits.lateTime) >= 0

  /** Returns true if no later commit can succeed. */
  def hasFailed: Boolean = failure != null

  /** Returns the time for which the present commit has been under way. */
  def age: Duration = Duration.ofNanos(clock.nanoTime - begunNanos)

  /** Returns true if the interval is over, or a reader waits for a commit, or may have to soon. The
    * loop asks again and again, so it makes no difference if the last commit has failed or did not
    * cover enough.
    */
  private def isDue(assignments: Collection[Assignment]): Boolean =
    val now = clock.nanoTime
    now - notBeforeNanos >= 0 &&
    (now - nextNanos >= 0 || assignments.asScala.exists(_.wantsCommit))

  /** Sends a commit; a later poll gets its result. **Fails** with the error of an earlier commit,
    * if no later one could succeed.
    */
  def beginIfDue(assignments: Collection[Assignment]): Unit =
    if failure != null then throw failure
    if (!isUnderWay || isLate) && isDue(assignments) then
      begunNanos = clock.nanoTime
      nextNanos = begunNanos + interval.toNanos
      val all = toCommit(assignments)
      if all.nonEmpty && !(isUnderWay && isLatest(all)) then begin(all)

  private def isLatest(all: Vector[ToCommit]): Boolean =
    all.map(_.assignment) == latest.map(_.assignment) &&
      all.map(_.progress) == latest.map(_.progress)

  private def begin(all: Vector[ToCommit]): Unit =
    var isOver = false // the client may call back, and throw too
    def ended(): Unit =
      if !isOver then underWay -= 1
      isOver = true
    underWay += 1
    latest = all
    try
      consumer.commitAsync(
        offsets(all),
        (_, error) =>
          ended()
          if error == null then hasCommitted(all)
          else if isPassing(error) then beginAgainAfter(Commits.retryTime)
          else failure = error
      )
    catch
      // If the coordinator is not known, the client looks for it. A wake-up ends that.
      case _: WakeupException =>
        ended()
        beginAgainAfter(Duration.ZERO)
      case error: Exception if isPassing(error) =>
        ended()
        beginAgainAfter(Commits.retryTime)

  /** As `commitNow`, if one is due. */
  def commitIfDue(assignments: Collection[Assignment], time: Duration): Unit =
    if isDue(assignments) then
      nextNanos = clock.nanoTime + interval.toNanos
      commitNow(assignments, time)

  /** Commits, and **waits** for that, at most for `time`; once this stops, at most for `stopTime`,
    * with all such calls together.
    */
  def commitNow(assignments: Collection[Assignment], time: Duration): Unit =
    val deadline = clock.nanoTime + time.toNanos
    var isOver = false
    while !isOver do
      val all = toCommit(assignments)
      // A stop that comes later ends the call by its wake-up.
      val left = Duration.ofNanos(endOf(deadline) - clock.nanoTime)
      if all.isEmpty then isOver = true
      else if left.toNanos <= 0 then
        beginAgainAfter(Commits.retryTime)
        isOver = true
      else
        try
          consumer.commitSync(offsets(all), Commits.least(left, Commits.tryTime))
          hasCommitted(all)
          isOver = true
        catch
          case _: WakeupException => () // it was for the poll, or a stop
          case _: OffsetMetadataTooLarge => shorten()
          case _: RetriableException => Thread.sleep(Commits.least(left, Commits.retryTime))
          case error: Exception if isPassing(error) =>
            beginAgainAfter(Commits.retryTime)
            isOver = true

  /** Returns true if the group takes a commit of this member, of what it has committed before too:
    * so it still has its partitions. **Waits** for that.
    */
  def confirm(assignments: Collection[Assignment]): Boolean =
    assignments.forEach(_.commitAgain())
    val all = toCommit(assignments)
    all.nonEmpty && {
      try
        consumer.commitSync(offsets(all), Commits.tryTime)
        hasCommitted(all)
        true
      catch case error: Exception if isPassing(error) => false
    }

  private def endOf(deadline: Long): Long =
    if !isStopping() then deadline
    else
      if stopNanos == -1 then stopNanos = clock.nanoTime + Commits.stopTime.toNanos
      if stopNanos - deadline < 0 then stopNanos else deadline

  /** Returns the committed offsets of the partitions; none if the brokers do not answer within
    * `time`.
    */
  def committed(
      partitions: Collection[TopicPartition],
      time: Duration
  ): Option[JMap[TopicPartition, OffsetAndMetadata]] =
    questions.ask(time, isPassing)(consumer.committed(HashSet(partitions), _))

  private def toCommit(assignments: Collection[Assignment]): Vector[ToCommit] =
    assignments.asScala.iterator.filter(_.isOwned).flatMap(_.toCommit(metadataLimit)).toVector

  private def hasCommitted(all: Vector[ToCommit]): Unit =
    all.foreach(commit => commit.assignment.hasCommitted(commit))

  private def beginAgainAfter(time: Duration): Unit =
    notBeforeNanos = clock.nanoTime + time.toNanos
    if nextNanos - notBeforeNanos > 0 then nextNanos = notBeforeNanos

  private def offsets(all: Vector[ToCommit]): HashMap[TopicPartition, OffsetAndMetadata] =
    val offsets = HashMap[TopicPartition, OffsetAndMetadata](all.size * 2)
    all.foreach { commit =>
      val progress = commit.progress
      offsets.put(
        commit.assignment.partition,
        OffsetAndMetadata(progress.offset, commit.leaderEpoch, progress.metadata)
      ): Unit
    }
    offsets

  /** Returns true if the error is temporary, so that work can go on. */
  private def isPassing(error: Exception): Boolean = error match
    case _: OffsetMetadataTooLarge =>
      shorten()
      true
    case _: WakeupException => true
    case _ => ClientErrors.mayPass(error)

  /** The broker's `offset.metadata.max.bytes` is less than ours. */
  private def shorten(): Unit = metadataLimit = if metadataLimit > 64 then metadataLimit / 2 else 0

private[kafka] object Commits:
  /** The longest time that commits may take after a stop. */
  val stopTime: Duration = Duration.ofSeconds(3)

  /** The longest time that one try may take. A request that a wake-up has ended may stay in the
    * client's queue as long.
    */
  private val tryTime: Duration = Duration.ofSeconds(3)

  /** A commit that takes so long is a sign of a broker that stalls. */
  private val lateTime: Duration = Duration.ofMillis(500)

  /** After a commit that failed. A broker that is away is not asked all the time. */
  private val retryTime: Duration = Duration.ofMillis(100)

  def least(one: Duration, other: Duration): Duration =
    if one.compareTo(other) < 0 then one else other

  def most(one: Duration, other: Duration): Duration =
    if one.compareTo(other) < 0 then other else one
