package weir.kafka

import org.apache.kafka.common.TopicPartition

/** A transaction that stays open in a partition for ever: see [[KafkaAdmin.hangingTransactions]].
  *
  * @param startOffset
  *   the offset of its first record
  * @param coordinatorEpoch
  *   that of the last transaction of this producer in the partition
  */
final case class HangingTransaction(
    partition: TopicPartition,
    startOffset: Long,
    producerId: Long,
    producerEpoch: Int,
    coordinatorEpoch: Int
)
