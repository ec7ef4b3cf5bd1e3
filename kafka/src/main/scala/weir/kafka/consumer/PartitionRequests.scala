package weir.kafka.consumer

import java.time.Duration
import java.util.{List as JList, Map as JMap}
import org.apache.kafka.clients.consumer.Consumer
import org.apache.kafka.common.TopicPartition
import scala.jdk.CollectionConverters.*
import weir.kafka.{KafkaFailure, PartitionProgress, Position}

/** The calls of a `GroupMember`, which the poll thread makes between two polls.
  *
  * @param owned
  *   the assignments of the poll thread
  * @param moveTo
  *   replaces the assignment of a partition by another that begins at an offset
  * @param notAssigned
  *   returns the error for partitions that this member does not have
  */
private[kafka] final class PartitionRequests(
    consumer: => Consumer[?, ?],
    owned: JMap[TopicPartition, Assignment],
    target: ChunkTarget,
    starts: StartOffsets,
    moveTo: (Assignment, Long) => Assignment,
    notAssigned: Set[TopicPartition] => KafkaFailure
):
  import PartitionRequests.askTime

  def assigned: Set[TopicPartition] = owned.keySet.asScala.toSet

  def progress: Map[TopicPartition, PartitionProgress] =
    val all = owned.asScala.toMap
    val ends = starts.offsets(all.map((partition, _) => partition -> Position.Latest), askTime)
    all.map { (partition, assignment) =>
      val lag = ends.flatMap(_.get(partition)).map(lagOf(assignment, _))
      partition -> PartitionProgress(lag, assignment.inFlight, assignment.notCommitted)
    }

  private def lagOf(assignment: Assignment, end: Long): Long =
    if assignment.prefixEnd >= 0 then assignment.undoneUntil(end)
    else math.max(0, end - consumer.position(assignment.partition, askTime))

  def pause(partitions: Set[TopicPartition]): Unit = assignmentsOf(partitions).foreach(hold)

  private def hold(assignment: Assignment): Unit =
    assignment.isHeld = true
    consumer.pause(JList.of(assignment.partition))
    target.hold(assignment)

  def resume(partitions: Set[TopicPartition]): Unit =
    assignmentsOf(partitions).foreach { assignment =>
      assignment.isHeld = false
      if !assignment.isPaused then consumer.resume(JList.of(assignment.partition))
      target.letGo(assignment)
    }

  def position(partition: TopicPartition): Long =
    val known = assignmentOf(partition).prefixEnd
    if known >= 0 then known else consumer.position(partition, askTime)

  def seek(partition: TopicPartition, to: Position): Unit =
    val assignment = assignmentOf(partition)
    starts.offsets(Map(partition -> to), askTime).flatMap(_.get(partition)) match
      case None =>
        throw KafkaFailure(
          s"Kafka did not say within ${askTime.toSeconds} s where to seek in " +
            s"$partition for $to. Nothing has changed. Try again."
        )
      case Some(offset) =>
        val next = moveTo(assignment, offset)
        if assignment.isHeld then hold(next) else consumer.resume(JList.of(partition))

  private def assignmentOf(partition: TopicPartition): Assignment =
    assignmentsOf(Set(partition)).head

  private def assignmentsOf(partitions: Set[TopicPartition]): Vector[Assignment] =
    val missing = partitions.filterNot(owned.containsKey)
    if missing.nonEmpty then throw notAssigned(missing)
    partitions.iterator.map(owned.get(_)).toVector

private object PartitionRequests:
  private val askTime = Duration.ofSeconds(1)
