package weir.kafka.consumer

import java.util.concurrent.locks.ReentrantLock
import org.apache.kafka.clients.consumer.{ConsumerRecord, ConsumerRecords}
import org.apache.kafka.common.errors.InterruptException
import org.apache.kafka.common.serialization.Deserializer
import weir.kafka.{CommittableRecord, ConsumerSettings, KafkaFailure, UndecodableRecord}

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
    brokers: String,
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
    try decoded(record, assignment)
    finally if isShared then lock.unlock()

  private def decoded(
      record: BytesRecord,
      assignment: Assignment
  ): CommittableRecord[K, V] | UndecodableRecord =
    var part = "key"
    try
      val itsKey = decode(key, record, record.key)
      part = "value"
      CommittableRecord(record, itsKey, decode(value, record, record.value), assignment)
    catch
      case error: Exception if !isInterrupt(error) =>
        val bytes = CommittableRecord(record, record.key, record.value, assignment)
        UndecodableRecord(bytes, KafkaFailure.undecodable(brokers, record, part, error))

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
    val properties = settings.toKafka(group)
    val decoding = Decoding(settings.brokers, settings.key(), settings.value(), isShared)
    try
      try
        decoding.key.configure(properties, true)
        decoding.value.configure(properties, false)
      catch
        case error: Exception =>
          throw KafkaFailure.explain(settings.brokers, s"the group '$group'", Set.empty)(error)
      use(decoding)
    catch
      case error: Throwable =>
        try decoding.close()
        catch case later: Exception => error.addSuppressed(later)
        throw error
