package weir.kafka.consumer

import java.lang.Long as JLong
import java.time.Duration
import java.util.{Collection, Map as JMap}
import org.apache.kafka.clients.consumer.{Consumer, OffsetAndMetadata}
import org.apache.kafka.common.TopicPartition
import scala.collection.mutable
import scala.jdk.CollectionConverters.*
import weir.kafka.{Position, StartAt}

/** Finds the offsets at which partitions begin that a poll thread gets. Only that thread calls it.
  */
private[kafka] final class StartOffsets(
    consumer: => Consumer[?, ?],
    startAt: StartAt,
    clock: PollClock,
    isStopping: () => Boolean
):
  private val questions = Questions(clock, isStopping)

  /** The partitions that this run has had. */
  private val had = mutable.HashSet[TopicPartition]()

  /** Returns true if the positions depend on what the group has committed. */
  def dependOnCommits: Boolean = startAt.rule == StartAt.Rule.Uncommitted && !isDefault

  private def isDefault: Boolean = startAt eq StartAt.committed

  /** Returns the offsets of the partitions that do not begin at the group's commit; none if the
    * brokers do not answer within `time`. **Waits** for the task of the user's settings, and
    * **fails** as it does.
    */
  def of(
      partitions: Collection[TopicPartition],
      committed: JMap[TopicPartition, OffsetAndMetadata],
      time: Duration
  ): Option[Map[TopicPartition, Long]] =
    if isDefault then Some(Map.empty)
    else
      val all = partitions.asScala.toSet
      val asked = startAt.rule match
        case StartAt.Rule.Uncommitted => all.filter(committed.get(_) == null)
        case StartAt.Rule.FirstTime => all -- had
        case StartAt.Rule.Each => all
      val positions =
        if asked.isEmpty then Map.empty
        else startAt.positions(asked).runSync().view.filterKeys(asked.contains).toMap
      val found = offsets(positions, time)
      if found.nonEmpty then had ++= all
      found

  /** Returns the offsets of the positions; none if the brokers do not answer within `time`. */
  def offsets(
      positions: Map[TopicPartition, Position],
      time: Duration
  ): Option[Map[TopicPartition, Long]] =
    questions.ask(time, ClientErrors.mayPass)(ask(positions, _))

  private def ask(
      positions: Map[TopicPartition, Position],
      time: Duration
  ): Map[TopicPartition, Long] =
    val times = positions.collect { case (partition, Position.Time(at)) =>
      partition -> JLong.valueOf(math.max(0, at.toEpochMilli))
    }
    val atTimes =
      if times.isEmpty then Map.empty
      else consumer.offsetsForTimes(times.asJava, time).asScala.toMap.filter(_._2 != null)
    val first = positions.collect { case (partition, Position.Earliest) => partition }
    val last = positions.collect { case (partition, Position.Latest) => partition } ++
      (times.keySet -- atTimes.keySet)
    val begins = if first.isEmpty then Map.empty else asked(consumer.beginningOffsets)(first, time)
    val ends = if last.isEmpty then Map.empty else asked(consumer.endOffsets)(last, time)
    val known = positions.collect { case (partition, Position.Offset(offset)) =>
      partition -> offset
    }
    begins ++ ends ++ known ++ atTimes.map((partition, at) => partition -> at.offset)

  private def asked(ask: (Collection[TopicPartition], Duration) => JMap[TopicPartition, JLong])(
      partitions: Iterable[TopicPartition],
      time: Duration
  ): Map[TopicPartition, Long] =
    ask(partitions.toSet.asJava, time).asScala.view.mapValues(_.longValue).toMap
