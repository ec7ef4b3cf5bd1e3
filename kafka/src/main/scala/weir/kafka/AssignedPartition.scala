package weir.kafka

import org.apache.kafka.common.TopicPartition
import weir.Stream

/** A partition that was assigned to this consumer.
  *
  * @param records
  *   its records; run this stream once. It ends when the partition is revoked or lost. A revoke
  *   waits until the records that it has emitted are done.
  */
final class AssignedPartition[K, V] private[kafka] (
    val topicPartition: TopicPartition,
    val records: Stream[CommittableRecord[K, V]]
)
