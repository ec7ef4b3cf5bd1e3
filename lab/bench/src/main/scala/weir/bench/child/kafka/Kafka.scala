package weir.bench.child.kafka

import weir.lab.{ChildOutput, Experiment, Harness}
import weir.program.Result

/** Measures the speed at which one member of a group reads the records of a topic: with no work, or
  * with a call that blocks for each.
  *
  * The topic has been filled before. Each round is a group of its own, from the start; it is timed
  * from its first record to its last, so that the joining of the group does not count. The
  * processor time of the JVM, with its compiler and its collector, varies less than that time.
  */
object Kafka extends Experiment:
  def run(system: String, options: Experiment.Options, out: ChildOutput): Unit =
    val name = options.text("case")
    val reading = Reading(
      brokers = options.text("brokers"),
      topic = options.text("topic"),
      records = options.int("records"),
      workMillis = options.long("workMillis"),
      parallelism = options.int("parallelism")
    )
    // The first rounds are for the compiler.
    val warmUps = options.int("warmUps")
    val times = Vector.tabulate(warmUps + options.int("rounds")) { round =>
      val group = s"${options.text("topic")}-$system-${ProcessHandle.current.pid}-$round"
      val clock = Clock(reading.records)
      system match
        case "weir" => WeirReader(reading, group, clock)
        case "kafka-clients" => PlainReader(reading, group, clock)
        case "parallel-consumer" => ParallelConsumerReader(reading, group, clock)
        case other => throw IllegalArgumentException(s"kafka has no system '$other'")
      (clock.seconds, clock.processorNanosOfEach)
    }
    val (seconds, nanos) = times.drop(warmUps).unzip
    val rate = reading.records / Harness.median(seconds)
    out.result(Result(name, system, rate, "records/s", Result.higher))
    out.result(Result(name, system, Harness.median(nanos), "ns/record", Result.lower))

/** @param workMillis how long the call of a record blocks; 0 for no work */
final case class Reading(
    brokers: String,
    topic: String,
    records: Int,
    workMillis: Long,
    parallelism: Int
):
  /** Returns the properties of all clients. */
  def properties(group: String): java.util.Map[String, AnyRef] =
    java.util.Map.of(
      "bootstrap.servers",
      brokers,
      "group.id",
      group,
      "auto.offset.reset",
      "earliest"
    )

  def work(): Unit = Thread.sleep(workMillis)
