package weir.kafka.testkit

import org.apache.kafka.clients.consumer.{CommitFailedException, OffsetAndMetadata}
import org.apache.kafka.common.TopicPartition
import scala.collection.mutable

/** A group of consumers: who has which partition, and what is committed. Partition i belongs to
  * member i modulo their number, shifted by the number of rebalances that were asked for. A member
  * gives up a partition in its next poll, and only then another one gets it.
  *
  * The lock of the cluster guards all of its state.
  */
private[testkit] final class MemoryGroup(name: String, cluster: MemoryCluster):
  private val members = mutable.ArrayBuffer[GroupSeat]()
  private val committed = mutable.HashMap[TopicPartition, OffsetAndMetadata]()
  private var shifts = 0
  private var joined = 0
  private var generation = 0

  def join(topics: String => Boolean, sessionMillis: Long): GroupSeat = cluster.synchronized {
    joined += 1
    val seat = GroupSeat(s"$name-$joined", topics, sessionMillis)
    members += seat
    hasChanged()
    seat
  }

  def leave(seat: GroupSeat): Unit = cluster.synchronized {
    members -= seat
    seat.owned = Set.empty
    hasChanged()
  }

  private def hasChanged(): Unit =
    generation += 1
    cluster.changed()

  // ---- for the members ----

  /** Returns the partitions that the member has to give up. */
  def toRevoke(seat: GroupSeat): Set[TopicPartition] = cluster.synchronized {
    expireSilent()
    seat.owned -- target(seat)
  }

  def giveUp(seat: GroupSeat, partitions: Set[TopicPartition]): Unit = cluster.synchronized {
    seat.owned --= partitions
    cluster.changed()
  }

  /** Gives the member those of its partitions that nobody has, and returns them. */
  def take(seat: GroupSeat): Set[TopicPartition] = cluster.synchronized {
    val free = target(seat) -- members.flatMap(_.owned)
    seat.owned ++= free
    seat.generation = generation
    free
  }

  private def target(seat: GroupSeat): Set[TopicPartition] =
    if !members.contains(seat) then Set.empty
    else
      val all = for
        topic <- cluster.names.sorted.iterator
        (partition, index) <-
          (0 until cluster.partitionCount(topic)).map(TopicPartition(topic, _)).zipWithIndex
        readers = members.filter(_.topics(topic))
        if readers.nonEmpty && readers((index + shifts) % readers.size) == seat
      yield partition
      all.toSet

  /** The group waits no longer for members that were cut off. */
  private def expireSilent(): Unit =
    val now = cluster.clock.nanoTime
    members.toVector
      .filter(seat => seat.cutOffNanos.exists(now - _ >= seat.sessionMillis * 1_000_000))
      .foreach(expire)

  /** **Fails** if the member has not got the partitions, as brokers do.
    */
  def commit(seat: GroupSeat, offsets: Map[TopicPartition, OffsetAndMetadata]): Unit =
    cluster.synchronized {
      check(seat.id, offsets)
      committed ++= offsets: Unit
    }

  def check(member: String, offsets: Map[TopicPartition, OffsetAndMetadata]): Unit =
    cluster.synchronized {
      val owned = members.find(_.id == member).fold(Set.empty)(_.owned)
      if !offsets.keySet.subsetOf(owned) then
        throw CommitFailedException(s"$member has not got ${offsets.keySet -- owned} any more")
    }

  def offsets: Map[TopicPartition, OffsetAndMetadata] = cluster.synchronized(committed.toMap)

  def commitUnchecked(offsets: Map[TopicPartition, OffsetAndMetadata]): Unit =
    cluster.synchronized(committed ++= offsets): Unit

  // ---- for the test ----

  def seats: Vector[GroupSeat] = cluster.synchronized(members.toVector)

  def seat(index: Int): GroupSeat = cluster.synchronized {
    members.lift(index).getOrElse {
      throw IllegalArgumentException(
        s"TestKafka: the group '$name' has ${members.size} members, and number $index was asked " +
          "for. They are counted from 0, in the order in which they joined."
      )
    }
  }

  def shift(): Unit = cluster.synchronized {
    shifts += 1
    hasChanged()
  }

  /** The member hears of it in its next poll, and joins again. */
  def expire(seat: GroupSeat): Unit = cluster.synchronized {
    members -= seat
    seat.isExpired = true
    seat.owned = Set.empty
    hasChanged()
  }

/** A member's place in its group. */
private[testkit] final class GroupSeat(
    val id: String,
    val topics: String => Boolean,
    val sessionMillis: Long
):
  // under the lock of the cluster
  var owned: Set[TopicPartition] = Set.empty
  var generation = 0
  var isExpired = false

  /** The time at which it was cut off. */
  var cutOffNanos: Option[Long] = None
  val pollFailures: mutable.Queue[Exception] = mutable.Queue()
