package weir.kafka

import org.apache.kafka.common.TopicPartition
import weir.Stream

/** A partition that was assigned to this consumer.
  *
  * @param records
  *   its records, to be run once. It ends when the partition is revoked or lost; a revoke then
  *   waits until what it has given is done.
  */
final class AssignedPartition[K, V] private[kafka] (
    val topicPartition: TopicPartition,
    val records: Stream[CommittableRecord[K, V]]
)
