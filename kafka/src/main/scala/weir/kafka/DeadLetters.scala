package weir.kafka

import java.io.{PrintWriter, StringWriter}
import java.nio.charset.StandardCharsets.UTF_8
import org.apache.kafka.clients.producer.ProducerRecord
import org.apache.kafka.common.header.internals.RecordHeaders
import weir.Task
import weir.kafka.consumer.{AsRead, BytesRecord}

/** A topic for records that have failed too often, or that cannot be decoded. They keep their
  * headers, and the bytes of their key and value as they were read. The headers `weir.dead.…` have
  * their origin and the error: `topic`, `partition`, `offset`, `timestamp`, `attempts`,
  * `error.class`, `error.message` and `error.trace`.
  */
final class DeadLetters(producer: KafkaProducer[?, ?], topic: String):

  /** Writes the record to the topic. **Waits** for the broker's acknowledgement. */
  private[kafka] def send(
      record: BytesRecord,
      error: Throwable,
      attempts: Int
  ): Task[Unit] =
    Task.defer(producer.sendAsRead(DeadLetters.of(topic, record, error, attempts)).void)

object DeadLetters:
  /** In characters. */
  private val longest = 4000

  private[kafka] def of(
      topic: String,
      record: BytesRecord,
      error: Throwable,
      attempts: Int
  ): ProducerRecord[AsRead, AsRead] =
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
    ProducerRecord(topic, null, AsRead(record.key), AsRead(record.value), headers)

  private def trace(error: Throwable): String =
    val text = StringWriter()
    error.printStackTrace(PrintWriter(text, true))
    text.toString.take(longest)
