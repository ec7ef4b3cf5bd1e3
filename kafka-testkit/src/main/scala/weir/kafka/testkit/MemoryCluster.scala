package weir.kafka.testkit

import java.util.concurrent.locks.LockSupport
import org.apache.kafka.common.TopicPartition
import org.apache.kafka.common.errors.{ProducerFencedException, UnknownTopicOrPartitionException}
import org.apache.kafka.common.header.Header
import scala.collection.mutable
import weir.kafka.consumer.PollClock

/** The topics and groups of brokers in memory. Its lock guards all of its state, that of its groups
  * too; nothing waits under it.
  */
private[testkit] final class MemoryCluster(val clock: PollClock):
  // under this lock
  private val topics = mutable.LinkedHashMap[String, Vector[mutable.ArrayBuffer[Stored]]]()
  private val groups = mutable.HashMap[String, MemoryGroup]()
  private val epochs = mutable.HashMap[String, Int]()
  private val sendFailures = mutable.Queue[Exception]()

  /** The threads that wait in a poll, or for brokers from which they are cut off. */
  private val waiting = mutable.HashSet[Thread]()

  // ---- topics ----

  def create(topic: String, partitions: Int): Unit = synchronized {
    if topics.contains(topic) then
      throw IllegalArgumentException(
        s"TestKafka.createTopic: there is a topic $topic already. Create each topic once."
      )
    topics(topic) = Vector.fill(partitions)(mutable.ArrayBuffer())
    changed()
  }

  def names: Vector[String] = synchronized(topics.keys.toVector)

  /** Returns 0 if there is no such topic. */
  def partitionCount(topic: String): Int = synchronized(topics.get(topic).fold(0)(_.size))

  def end(partition: TopicPartition): Long = synchronized(log(partition).size.toLong)

  /** Returns the records from an offset on, at most so many. */
  def read(partition: TopicPartition, from: Long, most: Int): Vector[Stored] = synchronized {
    val records = log(partition)
    records.slice(from.toInt, from.toInt + most).toVector
  }

  def append(partition: TopicPartition, record: Stored): Long = synchronized {
    val records = log(partition)
    records += record
    changed()
    records.size - 1L
  }

  private def log(partition: TopicPartition): mutable.ArrayBuffer[Stored] =
    topics
      .get(partition.topic)
      .flatMap(_.lift(partition.partition))
      .getOrElse(throw UnknownTopicOrPartitionException(s"there is no $partition"))

  // ---- groups ----

  def group(name: String): MemoryGroup = synchronized {
    groups.getOrElseUpdate(name, MemoryGroup(name, this))
  }

  // ---- producers ----

  /** Begins the use of a transactional id: earlier producers that have it are fenced. */
  def beginEpoch(transactionalId: String): Int = synchronized {
    val next = epochs.getOrElse(transactionalId, 0) + 1
    epochs(transactionalId) = next
    next
  }

  def checkEpoch(transactionalId: String, epoch: Int): Unit = synchronized {
    if epochs.get(transactionalId).exists(_ > epoch) then
      throw ProducerFencedException(s"another producer has the transactional id $transactionalId")
  }

  def failSends(errors: Seq[Exception]): Unit = synchronized(sendFailures ++= errors): Unit

  def takeSendFailure(): Option[Exception] = synchronized {
    Option.when(sendFailures.nonEmpty)(sendFailures.dequeue())
  }

  // ---- waits ----

  /** Waits until something may have changed, at most for `nanos`. */
  def await(nanos: Long): Unit =
    val thread = Thread.currentThread
    synchronized(waiting += thread): Unit
    LockSupport.parkNanos(nanos)
    synchronized(waiting -= thread): Unit

  /** A thread that has not parked yet does not park then. */
  def changed(): Unit = synchronized(waiting.foreach(LockSupport.unpark))

/** A record of a partition; its offset is its place. */
private[testkit] final case class Stored(
    timestampMillis: Long,
    key: Array[Byte] | Null,
    value: Array[Byte] | Null,
    headers: Vector[Header]
)
