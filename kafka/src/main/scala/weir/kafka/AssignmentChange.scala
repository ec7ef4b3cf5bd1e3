package weir.kafka

import org.apache.kafka.common.TopicPartition

/** A change of the partitions that a member of a group has: see
  * `ConsumerSettings.onAssignmentChange`.
  */
enum AssignmentChange:
  def partitions: Set[TopicPartition]

  /** The member got these, and reads them from now on. */
  case Assigned(partitions: Set[TopicPartition])

  /** The member gives these up. The tasks of records in flight have ended, and the records that are
    * done are committed. No other member gets these partitions before the task of this change has
    * ended.
    */
  case Revoked(partitions: Set[TopicPartition])

  /** The member has lost these, as after a pause that was too long. Other members may have them
    * already.
    */
  case Lost(partitions: Set[TopicPartition])
