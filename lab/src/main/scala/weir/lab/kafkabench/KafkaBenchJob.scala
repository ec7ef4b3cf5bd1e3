package weir.lab.kafkabench

import java.io.{IOException, PrintWriter, UncheckedIOException}
import java.nio.file.{Files, Path}
import java.util.Comparator
import scala.collection.mutable
import scala.concurrent.duration.*
import scala.util.Using

import org.apache.kafka.clients.producer.ProducerRecord
import org.apache.kafka.common.serialization.ByteArraySerializer

import weir.{Stream, Task}
import weir.cli.relay.{LocalBroker, Topics}
import weir.kafka.{KafkaProducer, ProducerSettings}
import weir.kafka.broker.{BrokerSettings, KafkaBroker}
import weir.lab.{Harness, LabOptions, RivalJvm}
import weir.lab.ChildOutput.Message
import weir.program.{Foreground, Result, ResultTable, StagedJars, Systems, Text}

/** The whole of `weir kafka-bench`: fills topics, and has every system read them, in turns. */
final class KafkaBenchJob(settings: KafkaBenchJob.Settings, out: PrintWriter, err: PrintWriter):
  import KafkaBenchJob.*

  private val results = mutable.ArrayBuffer.empty[Result]
  private var isComplete = true

  /** Returns the exit code. */
  def run(): Int =
    val folder = Files.createTempDirectory("weir-kafka-bench-")
    try
      val broker = KafkaBroker.in(
        folder.resolve("broker"),
        BrokerSettings(
          properties = Map("weir.temporary" -> "true"),
          jvmFlags = Seq("-Xms1g", "-Xmx1g"),
          classPath = Some(StagedJars.broker.classPath)
        )
      )
      try
        Foreground.run(LocalBroker.whileRunning(broker)(all(broker))) match
          case Foreground.Ended.Done(code) => code
          case Foreground.Ended.Stopped(code, _) => code
      finally
        broker.close()
        broker.waitForExit(20.seconds): Unit
    finally delete(folder)

  /** The broker has deleted its data, unless a Ctrl-C has ended it too. */
  private def delete(folder: Path): Unit =
    try
      Using.resource(Files.walk(folder))(
        _.sorted(Comparator.reverseOrder).forEach(path => Files.deleteIfExists(path): Unit)
      )
    catch
      case error: (IOException | UncheckedIOException) =>
        err.println(s"$folder is left, since it could not be deleted: ${error.getMessage}")

  private def all(broker: KafkaBroker): Task[Int] =
    val steps = for
      round <- 1 to settings.turns
      one <- settings.cases
      system <- one.systems.filter(settings.systems.contains)
    yield Task.delay(measure(broker.address, one, system, round))
    Task
      .foreach(settings.cases)(fill(broker, _))
      .andThen(Task.foreach(steps)(identity))
      .andThen(Task.delay(finish()))

  private def fill(broker: KafkaBroker, one: Case): Task[Unit] =
    def note(text: String) = err.println(s"weir kafka-bench: $text…")
    val topics = Topics(broker.address, LocalBroker.isAwaited(broker, note))
    try topics.ensure(Seq(one.topic), one.partitions)
    finally topics.close()
    say(s"${Text.grouped(one.records)} records of 100 bytes: ${one.name}")
    val writing = ProducerSettings(
      broker.address,
      () => ByteArraySerializer(),
      () => ByteArraySerializer(),
      connectTimeout = LocalBroker.limit,
      properties = Map("batch.size" -> "65536", "linger.ms" -> "5")
    )
    KafkaProducer
      .resource(writing)
      .use { producer =>
        val value = Array.fill[Byte](100)('x')
        Stream
          .range(0, one.records)
          .map(n => ProducerRecord(one.topic, s"key-${n % keys}".getBytes, value))
          .through(producer.sendAll(20_000))
          .drain
      }

  private def measure(brokers: String, one: Case, system: String, turn: Int): Unit =
    say(s"$system: ${one.name} ($turn of ${settings.turns})")
    val jvm = RivalJvm(
      "kafka",
      system,
      options = Seq(
        "case" -> one.name,
        "brokers" -> brokers,
        "topic" -> one.topic,
        "records" -> one.records,
        "workMillis" -> one.workMillis,
        "parallelism" -> parallelism,
        "warmUps" -> one.warmUps,
        "rounds" -> one.rounds
      ),
      jvmFlags = Seq("-Xms1g", "-Xmx1g"),
      deadline = 5.minutes
    )
    val isFine = jvm.run(err):
      case Message.Measured(result) =>
        results += result
        say(ResultTable.line(result))
      case _ => ()
    if !isFine then isComplete = false

  private def finish(): Int =
    val bounds = settings.cases.filter(_.workMillis > 0).map { one =>
      Result(one.name, Systems.bound, one.mostPerSecond, "records/s", Result.higher)
    }
    val of = results.toVector.groupBy(result => (result.name, result.system, result.unit))
    val medians =
      of.values.map(turns => turns.head.copy(value = Harness.median(turns.map(_.value))))
    val all = bounds ++ medians.toVector.sortBy(r => (r.name, Systems.order(r.system)))
    ResultTable
      .byUnit(
        all,
        Vector(
          "records/s" -> "Records a second: the median of the turns",
          "ns/record" -> "Processor time of the JVM for each record"
        )
      )
      .foreach(say)
    settings.lab.hand("kafka-bench", all, isComplete)

  private def say(line: String): Unit =
    out.println(line)
    out.flush()

object KafkaBenchJob:
  /** @param turns
    *   the number of JVMs that each system has for a case
    */
  final case class Settings(
      systems: Vector[String],
      cases: Vector[Case],
      turns: Int,
      lab: LabOptions.Checked
  )

  val systems: Vector[String] = Vector("weir", "kafka-clients", "parallel-consumer")
  val parallelism = 256
  val keys = 1000

  /** @param warmUps
    *   the number of times that a JVM reads the topic as a warm-up
    * @param rounds
    *   the number of measured reads after that
    */
  final case class Case(
      name: String,
      partitions: Int,
      records: Int,
      workMillis: Long,
      warmUps: Int,
      rounds: Int
  ):
    def topic: String = name.replaceAll("[^a-z0-9]+", "-")

    /** Parallel Consumer is for work: an executor's task for each record. */
    def systems: Vector[String] =
      if workMillis == 0 then KafkaBenchJob.systems.filter(_ != "parallel-consumer")
      else KafkaBenchJob.systems

    /** Returns the highest speed that the calls and the keys allow. */
    def mostPerSecond: Double =
      val byCalls = parallelism * 1000.0 / workMillis
      val byKeys = records * 1000.0 / (math.ceil(records.toDouble / keys) * workMillis)
      math.min(byCalls, byKeys)

  /** With no work a round takes less than a second, and the first seven of a JVM are slower than
    * the others, with Kafka's client alone too. With work the rounds hardly differ.
    */
  def cases(records: Int, worked: Int, isQuick: Boolean): Vector[Case] =
    for
      (work, count, warmUps, rounds) <-
        Vector((0L, records, if isQuick then 2 else 8, 3), (10L, worked, 1, 1), (1L, worked, 1, 1))
      partitions <- Vector(1, 8)
    yield
      val what = if work == 0 then "no work" else s"$work ms each"
      Case(
        s"$what: ${Text.count(partitions, "partition")}",
        partitions,
        count,
        work,
        warmUps,
        rounds
      )
