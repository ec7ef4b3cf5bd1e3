package weir.kafka.consumer

import java.util.concurrent.atomic.AtomicReference
import org.apache.kafka.clients.consumer.AcknowledgeType
import org.apache.kafka.common.TopicPartition

/** A delivery of a record to a member of a share group. */
private[kafka] final class SharedDelivery(val record: BytesRecord, loop: ShareLoop):
  val place: SharedDelivery.Place = SharedDelivery.placeOf(record)

  private val settledAs = AtomicReference[AcknowledgeType | Null](null)

  /** By the clock on the wall, which goes on while a machine sleeps. The loop writes it. */
  @volatile var lockedUntilMillis: Long = 0

  /** The first time counts. */
  def settle(as: AcknowledgeType): Unit =
    if settledAs.compareAndSet(null, as) then loop.settled(this)

  def settlement: Option[AcknowledgeType] = Option(settledAs.get)

private[kafka] object SharedDelivery:
  final case class Place(partition: TopicPartition, offset: Long)

  def placeOf(record: BytesRecord): Place =
    Place(TopicPartition(record.topic, record.partition), record.offset)
