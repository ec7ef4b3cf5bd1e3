package weir.kafka

import weir.Task

/** A record whose key or value its deserializer could not read.
  *
  * @param record
  *   the record with its bytes
  * @param error
  *   the failure of a stream that cannot continue after it. Its cause is the deserializer's error
  */
final class UndecodableRecord private[kafka] (
    val record: CommittableRecord[Array[Byte], Array[Byte]],
    val error: KafkaFailure
):
  /** Marks the record as processed, as `CommittableRecord.done` does. */
  def done: Task[Unit] = record.done

  private[kafka] def cause: Throwable = Option(error.getCause).getOrElse(error)

  override def toString: String =
    s"UndecodableRecord(${record.topic}-${record.partition}@${record.offset})"

private[kafka] object UndecodableRecord:
  /** Returns the record, with its bytes if it could not be decoded. */
  def recordOf(record: CommittableRecord[?, ?] | UndecodableRecord): CommittableRecord[?, ?] =
    record match
      case undecodable: UndecodableRecord => undecodable.record
      case record: CommittableRecord[?, ?] => record
