package weir.kafka.consumer

import java.time.Duration
import java.util.concurrent.ExecutionException
import org.apache.kafka.clients.admin.{
  Admin,
  ListConsumerGroupOffsetsOptions,
  ListConsumerGroupOffsetsSpec
}
import org.apache.kafka.common.TopicPartition
import scala.concurrent.duration.DurationInt
import scala.jdk.CollectionConverters.*
import weir.kafka.ConsumerSettings
import weir.{Resource, Schedule, Task}

/** Reads the offsets that a group has committed beside its consumer, which belongs to the poll
  * thread.
  */
private[kafka] final class CommittedOffsets(settings: ConsumerSettings[?, ?], group: String):

  /** **Waits** for the brokers, and until no transaction for the partitions is open.
    */
  def of(partitions: Set[TopicPartition]): Task[Map[TopicPartition, Long]] =
    Resource
      .make(Task.delay(Admin.create(settings.toKafka(group))))(admin =>
        Task.delay(admin.close(Duration.ZERO))
      )
      .use(admin => Task.delay(ask(admin, partitions)))
      .retry(Schedule.spaced(1.second).whileInput(isPassing))

  private def ask(admin: Admin, partitions: Set[TopicPartition]): Map[TopicPartition, Long] =
    val asked = ListConsumerGroupOffsetsSpec().topicPartitions(partitions.asJava)
    admin
      .listConsumerGroupOffsets(
        java.util.Map.of(group, asked),
        ListConsumerGroupOffsetsOptions().requireStable(true)
      )
      .partitionsToOffsetAndMetadata(group)
      .get
      .asScala
      .collect { case (partition, found) if found != null => partition -> found.offset }
      .toMap

  private def isPassing(error: Throwable): Boolean = error match
    case failed: ExecutionException => ClientErrors.mayPass(failed.getCause)
    case _ => false
