package weir.kafka.consumer

import java.time.Duration
import java.util.{Collection, HashMap, HashSet, Map as JMap}
import org.apache.kafka.clients.consumer.{
  CommitFailedException,
  Consumer,
  OffsetAndMetadata,
  RetriableCommitFailedException
}
import org.apache.kafka.common.TopicPartition
import org.apache.kafka.common.errors.{
  FencedMemberEpochException,
  IllegalGenerationException,
  OffsetMetadataTooLarge,
  RebalanceInProgressException,
  RetriableException,
  StaleMemberEpochException,
  UnknownMemberIdException,
  WakeupException
}
import scala.jdk.CollectionConverters.*

/** The commits of a poll thread, which alone calls this.
  *
  * A commit that fails because the group has changed, or the broker is away, changes nothing: what
  * it said is said again by a later one, or by nobody, if the partition is lost.
  */
private[kafka] final class Commits(consumer: Consumer[?, ?], limitBytes: Int):
  import Assignment.ToCommit

  private var metadataLimit = limitBytes
  private var underWay = false
  private var failure: Throwable | Null = null

  def isUnderWay: Boolean = underWay

  /** Sends what is to be committed; a later poll hears how that went. **Fails** with the error of
    * an earlier one that no later one could put right.
    */
  def begin(assignments: Collection[Assignment]): Unit =
    if failure != null then throw failure
    val all = toCommit(assignments)
    if all.nonEmpty then
      underWay = true
      try
        consumer.commitAsync(
          offsets(all),
          (_, error) =>
            underWay = false
            if error == null then all.foreach(commit => commit.assignment.hasCommitted(commit))
            else if !isPassing(error) then failure = error
        )
      catch
        // Where the coordinator is not known, it is looked for, which a wake-up ends.
        case error: Exception if isPassing(error) => underWay = false

  /** Commits, and **waits** for that, at most for `time`. */
  def commitNow(assignments: Collection[Assignment], time: Duration): Unit =
    val deadline = System.nanoTime() + time.toNanos
    var isOver = false
    while !isOver do
      val all = toCommit(assignments)
      val left = deadline - System.nanoTime()
      if all.isEmpty || left <= 0 then isOver = true
      else
        try
          consumer.commitSync(offsets(all), Duration.ofNanos(left))
          all.foreach(commit => commit.assignment.hasCommitted(commit))
          isOver = true
        catch
          case _: WakeupException => () // it was for the poll
          case _: OffsetMetadataTooLarge => shorten()
          case error: Exception if isPassing(error) => isOver = true

  /** What was committed of the partitions, as far as that can be found out. */
  def committed(partitions: Collection[TopicPartition]): JMap[TopicPartition, OffsetAndMetadata] =
    val deadline = System.nanoTime() + Commits.readTime.toNanos
    var found: JMap[TopicPartition, OffsetAndMetadata] | Null = null
    while found == null do
      try found = consumer.committed(HashSet(partitions), Commits.readTime)
      catch
        case _: WakeupException => ()
        case error: Exception if isPassing(error) =>
          // Without the map, what is done beyond the offset is done again.
          if System.nanoTime() - deadline < 0 then Thread.sleep(5) else found = JMap.of()
    found

  private def toCommit(assignments: Collection[Assignment]): Vector[ToCommit] =
    assignments.asScala.iterator.filter(_.isOwned).flatMap(_.toCommit(metadataLimit)).toVector

  private def offsets(all: Vector[ToCommit]): HashMap[TopicPartition, OffsetAndMetadata] =
    val offsets = HashMap[TopicPartition, OffsetAndMetadata](all.size * 2)
    all.foreach { commit =>
      val progress = commit.progress
      offsets.put(
        commit.assignment.partition,
        OffsetAndMetadata(progress.offset, progress.metadata)
      ): Unit
    }
    offsets

  /** Whether work can go on after it. */
  private def isPassing(error: Exception): Boolean = error match
    case _: OffsetMetadataTooLarge =>
      shorten()
      true
    case _: (RetriableCommitFailedException | RetriableException | WakeupException) => true
    case _ => Commits.isOfGroup(error)

  /** The broker's `offset.metadata.max.bytes` is less than ours. */
  private def shorten(): Unit = metadataLimit = if metadataLimit > 64 then metadataLimit / 2 else 0

private[kafka] object Commits:
  private val readTime: Duration = Duration.ofSeconds(5)

  /** Whether the group refuses since this member is not what it was: its turn has passed. */
  def isOfGroup(error: Throwable): Boolean = error match
    case _: (CommitFailedException | RebalanceInProgressException | StaleMemberEpochException |
          FencedMemberEpochException | IllegalGenerationException | UnknownMemberIdException) =>
      true
    case _ => false
