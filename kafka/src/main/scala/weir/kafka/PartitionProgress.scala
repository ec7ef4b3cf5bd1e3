package weir.kafka

/** The progress of a member in one of its partitions.
  *
  * @param lag
  *   the number of offsets up to the end of the partition that are not done. Records that are done
  *   count as done even if earlier ones are not. Markers of transactions and compacted records
  *   count until they are passed. None if the brokers did not report the end within a second
  * @param inFlight
  *   the number of records that were emitted and are not done. Records that wait for their key or
  *   their next attempt in `parEvalMapByKey` are not among them
  * @param uncommitted
  *   the number of records that are done and not committed
  */
final case class PartitionProgress(lag: Option[Long], inFlight: Long, uncommitted: Long)
