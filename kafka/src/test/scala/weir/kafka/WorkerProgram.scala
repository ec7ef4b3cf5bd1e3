package weir.kafka

import java.io.FileOutputStream
import java.nio.charset.StandardCharsets.UTF_8
import java.time.Instant
import java.util.concurrent.ThreadLocalRandom
import org.apache.kafka.clients.producer.ProducerRecord
import org.apache.kafka.common.serialization.{StringDeserializer, StringSerializer}
import scala.concurrent.duration.*
import weir.Task

/** A member of a group in a process of its own, to be killed. It writes a line for each record that
  * it has done, `micros key value`, in one write each, which a kill does not undo.
  *
  * Its arguments: what to do (`keyed`, `exactly-once`, `shared`, or `usual`: with the settings that
  * a program has by default, and long values that it does not write), brokers, protocol, group,
  * topic, the topic for results or `-`, a file, the client id.
  */
object WorkerProgram:
  val parallelism = 8
  val uncommittedLimit = 40

  def settings(brokers: String, protocol: GroupProtocol): ConsumerSettings[String, String] =
    ConsumerSettings(
      brokers,
      () => StringDeserializer(),
      () => StringDeserializer(),
      protocol,
      bufferRecords = 100,
      commitInterval = 20.millis,
      uncommittedLimit = uncommittedLimit,
      revokeDeadline = 2.seconds,
      connectTimeout = 1.minute, // the machine may be busy
      properties = Map("max.poll.records" -> "50", "metadata.max.age.ms" -> "2000") ++
        Option.when(protocol == GroupProtocol.Classic)("session.timeout.ms" -> "4000") ++
        Option.when(protocol == GroupProtocol.Classic)("heartbeat.interval.ms" -> "300")
    )

  def main(arguments: Array[String]): Unit =
    weir.program.Attached.attach()
    val Array(what, brokers, protocol, group, topic, results, file, clientId) =
      arguments: @unchecked
    val common = settings(brokers, GroupProtocol.valueOf(protocol))
    val reading = common.copy(properties = common.properties + ("client.id" -> clientId))
    val writing = ProducerSettings(
      brokers,
      () => StringSerializer(),
      () => StringSerializer(),
      connectTimeout = reading.connectTimeout
    )
    val log = FileOutputStream(file, true)
    def work(key: String, value: String): Task[Unit] =
      Task.sleep(ThreadLocalRandom.current().nextLong(4).millis).map { _ =>
        val now = Instant.now()
        val micros = now.getEpochSecond * 1_000_000 + now.getNano / 1000
        log.write(s"$micros $key $value\n".getBytes(UTF_8))
      }
    println("started")
    what match
      case "keyed" =>
        KafkaConsumer(reading)
          .records(Set(topic), group)
          .parEvalMapByKey(parallelism)(record => work(record.key, record.value))
          .drain
          .runSync()
      case "usual" =>
        val usual =
          ConsumerSettings(brokers, () => StringDeserializer(), () => StringDeserializer())
        KafkaConsumer(usual.copy(groupProtocol = GroupProtocol.valueOf(protocol)))
          .records(Set(topic), group)
          .parEvalMapByKey(parallelism)(_ => Task.sleep(1.milli))
          .drain
          .runSync()
      case "shared" =>
        val shared = ShareSettings(brokers, () => StringDeserializer(), () => StringDeserializer())
        KafkaShareConsumer(shared)
          .records(Set(topic), group)
          .parEvalMapAccepted(2)(record =>
            work(record.key, record.value).andThen(Task.sleep(100.millis))
          )
          .drain
          .runSync()
      case "exactly-once" =>
        val id = s"$group-${ProcessHandle.current.pid}"
        ExactlyOnce(reading, writing, id, batchRecords = 60, batchTime = 20.millis)
          .run(Set(topic), group, parallelism)(record =>
            work(record.key, record.value)
              .as(List(ProducerRecord(results, record.key, record.value)))
          )
          .drain
          .runSync()
