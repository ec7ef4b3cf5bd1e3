package weir.kafka.consumer

import java.util.Map as JMap
import java.util.concurrent.locks.ReentrantLock
import org.apache.kafka.clients.consumer.{ConsumerRecord, ConsumerRecords}
import org.apache.kafka.common.errors.InterruptException
import org.apache.kafka.common.serialization.Deserializer
import weir.kafka.{
  CommittableRecord,
  ConsumerSettings,
  KafkaFailure,
  ShareSettings,
  UndecodableRecord
}

/** A record as it is polled: the poll thread knows nothing of keys and values. */
private[kafka] type BytesRecord = ConsumerRecord[Array[Byte], Array[Byte]]
private[kafka] type PolledRecords = ConsumerRecords[Array[Byte], Array[Byte]]

/** Decodes the records of one run of a stream, in the fibers that hand them out. So a record that
  * cannot be decoded is met in its place, and not by the poll thread, which is far ahead.
  *
  * One record at a time: a deserializer need not be safe for several threads.
  *
  * @param isShared
  *   true if several readers use it at the same time
  */
private[kafka] final class Decoding[K, V](
    private val brokers: String,
    private val key: Deserializer[K],
    private val value: Deserializer[V],
    isShared: Boolean
) extends AutoCloseable:
  private val lock = ReentrantLock()

  def apply(
      record: BytesRecord,
      assignment: Assignment
  ): CommittableRecord[K, V] | UndecodableRecord =
    if isShared then lock.lock()
    try
      decodeWith(record)(CommittableRecord(record, _, _, assignment)) { failure =>
        val bytes = CommittableRecord(record, record.key, record.value, assignment)
        UndecodableRecord(bytes, failure)
      }
    finally if isShared then lock.unlock()

  /** Returns the key and the value of a record that belongs to no assignment. */
  def decoded(record: BytesRecord): Either[KafkaFailure, (K, V)] =
    decodeWith[Either[KafkaFailure, (K, V)]](record)((key, value) => Right((key, value)))(Left(_))

  private def decodeWith[A](record: BytesRecord)(make: (K, V) => A)(failed: KafkaFailure => A): A =
    var part = "key"
    try
      val itsKey = decode(key, record, record.key)
      part = "value"
      make(itsKey, decode(value, record, record.value))
    catch
      case error: Exception if !isInterrupt(error) =>
        failed(KafkaFailure.undecodable(brokers, record, part, error))

  private def decode[A](deserializer: Deserializer[A], record: BytesRecord, bytes: Array[Byte]): A =
    if bytes == null then null.asInstanceOf[A]
    else deserializer.deserialize(record.topic, record.headers, bytes)

  /** A deserializer may ask a schema registry. If its fiber is cancelled meanwhile, the record is
    * not at fault.
    */
  private def isInterrupt(error: Throwable): Boolean =
    KafkaFailure.causes(error).exists {
      case _: (InterruptedException | InterruptException) => true
      case _ => false
    }

  def close(): Unit =
    try key.close()
    finally value.close()

private[kafka] object Decoding:
  /** Makes the deserializers of a run, and configures them. Whoever `use` makes closes them; if it
    * throws, they are closed here. **Fails** with [[KafkaFailure]] if they cannot be configured.
    */
  def used[K, V, A](settings: ConsumerSettings[K, V], group: String, isShared: Boolean = false)(
      use: Decoding[K, V] => A
  ): A =
    val decoding = Decoding(settings.brokers, settings.key(), settings.value(), isShared)
    used(decoding, group, settings.toKafka(group))(use)

  /** As the other one, for a share group. */
  def used[K, V, A](settings: ShareSettings[K, V], group: String)(use: Decoding[K, V] => A): A =
    val decoding = Decoding(settings.brokers, settings.key(), settings.value(), isShared = false)
    used(decoding, group, settings.toKafka(group))(use)

  private def used[K, V, A](
      decoding: Decoding[K, V],
      group: String,
      properties: JMap[String, AnyRef]
  )(use: Decoding[K, V] => A): A =
    try
      try
        decoding.key.configure(properties, true)
        decoding.value.configure(properties, false)
      catch
        case error: Exception =>
          throw KafkaFailure.explain(decoding.brokers, s"the group '$group'", Set.empty)(error)
      use(decoding)
    catch
      case error: Throwable =>
        try decoding.close()
        catch case later: Exception => error.addSuppressed(later)
        throw error
