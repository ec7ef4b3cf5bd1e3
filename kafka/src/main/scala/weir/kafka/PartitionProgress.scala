package weir.kafka

/** The progress of a member in one of its partitions.
  *
  * @param lag
  *   the number of offsets up to the end of the partition that are not done, those of records that
  *   are done beyond others not counted. Markers of transactions and compacted records count until
  *   they are passed. None if the brokers did not say where the end is within a second
  * @param inFlight
  *   the number of records that were handed out and are not done. Records that wait for their key
  *   or their next attempt in `parEvalMapByKey` are not among them
  * @param uncommitted
  *   the number of records that are done and in no commit
  */
final case class PartitionProgress(lag: Option[Long], inFlight: Long, uncommitted: Long)
