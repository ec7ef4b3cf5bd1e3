package weir.kafka

import java.io.{PrintWriter, StringWriter}
import java.nio.charset.StandardCharsets.UTF_8
import org.apache.kafka.clients.producer.ProducerRecord
import org.apache.kafka.common.header.internals.RecordHeaders
import weir.Task

/** A topic for records that have failed too often. They keep their key, value and headers. The
  * headers `weir.dead.…` have their origin and the error: `topic`, `partition`, `offset`,
  * `timestamp`, `attempts`, `error.class`, `error.message` and `error.trace`.
  */
final class DeadLetters[K, V](producer: KafkaProducer[K, V], topic: String):

  /** Writes the record to the topic. **Waits** for the broker's acknowledgement. */
  private[kafka] def send(
      record: CommittableRecord[K, V],
      error: Throwable,
      attempts: Int
  ): Task[Unit] = Task.defer(producer.send(DeadLetters.of(topic, record, error, attempts)).void)

object DeadLetters:
  /** In characters. */
  private val longest = 4000

  /** Returns the dead letter of a record, for code that writes it in another way, such as in a
    * transaction.
    */
  def of[K, V](
      topic: String,
      record: CommittableRecord[K, V],
      error: Throwable,
      attempts: Int
  ): ProducerRecord[K, V] =
    val headers = RecordHeaders(record.headers)
    def add(name: String, text: String): Unit =
      headers.add(s"weir.dead.$name", text.getBytes(UTF_8)): Unit
    add("topic", record.topic)
    add("partition", record.partition.toString)
    add("offset", record.offset.toString)
    add("timestamp", record.timestamp.toString)
    add("attempts", attempts.toString)
    add("error.class", error.getClass.getName)
    add("error.message", Option(error.getMessage).getOrElse("").take(longest))
    add("error.trace", trace(error))
    ProducerRecord(topic, null, record.key, record.value, headers)

  private def trace(error: Throwable): String =
    val text = StringWriter()
    error.printStackTrace(PrintWriter(text, true))
    text.toString.take(longest)
