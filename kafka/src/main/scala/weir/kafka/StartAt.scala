package weir.kafka

import java.time.Instant
import org.apache.kafka.common.TopicPartition
import weir.Task

/** A place in a partition. */
sealed trait Position

object Position:
  /** The first record that the broker has. */
  case object Earliest extends Position

  /** The end: the next record that is written. */
  case object Latest extends Position

  /** The record at this offset, or the next one that exists. */
  final case class Offset(offset: Long) extends Position:
    require(offset >= 0, s"Position.Offset: the offset was $offset. It must be at least 0.")

  /** The first record that was written at this time or later; the end if there is none. */
  final case class Time(instant: Instant) extends Position

/** The position at which a member of a group begins to read a partition that it gets.
  *
  * {{{
  * settings.copy(startAt = StartAt(Position.Latest)) // where the group has committed nothing
  * settings.copy(startAt = StartAt(Position.Time(Instant.now.minusSeconds(3600))).always)
  * settings.copy(startAt = StartAt.kept(partitions => offsetsInDatabase(partitions)))
  * }}}
  */
final class StartAt private[kafka] (
    private[kafka] val rule: StartAt.Rule,
    private[kafka] val positions: StartAt.Positions
):
  /** Returns the same position, but for all partitions, even if the group has committed something:
    * a run of a stream begins there when it gets a partition for the first time. If it loses the
    * partition and gets it back in the same run, it continues at the group's commit. With several
    * members, each of them begins there. So use it with one member, or reset the group once, while
    * it has no members, with `KafkaAdmin`.
    */
  def always: StartAt =
    if rule == StartAt.Rule.Uncommitted then new StartAt(StartAt.Rule.FirstTime, positions)
    else this

object StartAt:
  private[kafka] type Positions = Set[TopicPartition] => Task[Map[TopicPartition, Position]]

  private[kafka] enum Rule:
    /** For partitions in which the group has committed nothing. */
    case Uncommitted

    /** For a partition that this run gets for the first time. */
    case FirstTime

    /** For each partition, each time. */
    case Each

  private val none: Positions = _ => Task.pure(Map.empty)

  /** Begins at the group's commit. Where there is none, the property `auto.offset.reset` decides,
    * which is `earliest` here.
    */
  val committed: StartAt = new StartAt(Rule.Uncommitted, none)

  /** Begins at `position` where the group has committed nothing. */
  def apply(position: Position): StartAt =
    new StartAt(
      Rule.Uncommitted,
      partitions => Task.pure(partitions.iterator.map(_ -> position).toMap)
    )

  /** Begins at these positions where the group has committed nothing. Other partitions begin as
    * with `committed`.
    */
  def each(positions: Map[TopicPartition, Position]): StartAt =
    new StartAt(
      Rule.Uncommitted,
      partitions => Task.pure(positions.view.filterKeys(partitions.contains).toMap)
    )

  /** Begins at the positions that `load` returns for the partitions that a member gets, each time
    * that it gets some. The offsets that the group has committed are ignored. So offsets can be
    * stored elsewhere, as in the database that has the effects of the records. A partition that
    * `load` does not return begins as with `committed`.
    *
    * The poll thread runs `load` and waits for it, so it should take less than
    * `max.poll.interval.ms`. If it **fails**, so does the stream.
    */
  def kept(load: Set[TopicPartition] => Task[Map[TopicPartition, Position]]): StartAt =
    new StartAt(Rule.Each, load)
