package weir.kafka.consumer

import java.time.Duration
import java.util.concurrent.{ConcurrentLinkedQueue, Semaphore, TimeUnit}
import java.util.Map as JMap
import org.apache.kafka.clients.consumer.{
  ConsumerRecord,
  ConsumerRecords,
  MockConsumer,
  OffsetAndMetadata,
  OffsetCommitCallback
}
import org.apache.kafka.common.TopicPartition
import org.apache.kafka.common.errors.WakeupException
import scala.jdk.CollectionConverters.*

/** Kafka's mock of a consumer, with partitions of one topic and `records` in each. It differs in
  * that a poll without records waits, until it is woken, and that it is a later poll that hears of
  * a commit.
  */
private class PollingConsumer(partitions: Int, records: Int)
    extends MockConsumer[Array[Byte], Array[Byte]]("earliest"):
  val all: Vector[TopicPartition] =
    Vector.tabulate(partitions)(TopicPartition(PollingConsumer.topic, _))
  val woken = Semaphore(0)

  /** The wait of each poll, and true if a commit was under way. */
  val polls = ConcurrentLinkedQueue[(Duration, Boolean)]()
  private var underWay = 0

  updateBeginningOffsets(all.map(_ -> java.lang.Long.valueOf(0)).toMap.asJava)
  schedulePollTask { () =>
    rebalance(all.asJava)
    for partition <- all; offset <- 0 until records do addRecord(recordOf(partition, offset))
  }

  /** To the first partition. */
  def add(offsets: Range): Unit =
    offsets.foreach(offset => addRecord(recordOf(all.head, offset)))

  private def recordOf(partition: TopicPartition, offset: Long) =
    ConsumerRecord(partition.topic, partition.partition, offset, Array(1.toByte), Array(2.toByte))

  override def poll(timeout: Duration): ConsumerRecords[Array[Byte], Array[Byte]] =
    polls.add((timeout, underWay > 0))
    val found = super.poll(timeout)
    if found.isEmpty && woken.tryAcquire(timeout.toNanos, TimeUnit.NANOSECONDS) then
      woken.drainPermits()
      throw WakeupException()
    found

  override def wakeup(): Unit = woken.release()

  override def commitAsync(
      offsets: JMap[TopicPartition, OffsetAndMetadata],
      callback: OffsetCommitCallback
  ): Unit = endLater(offsets, callback, null)

  protected def endLater(
      offsets: JMap[TopicPartition, OffsetAndMetadata],
      callback: OffsetCommitCallback,
      error: Exception | Null
  ): Unit =
    underWay += 1
    schedulePollTask { () =>
      underWay -= 1
      callback.onComplete(offsets, error)
    }

private object PollingConsumer:
  val topic = "topic"
