package weir.cli.command

import java.util.concurrent.Callable

import picocli.CommandLine.{Command, Option as Opt, Spec}
import picocli.CommandLine.Model.CommandSpec

import weir.cli.purchases.PurchaseService
import weir.cli.relay.RelayJob
import weir.kafka.{GroupProtocol, KafkaFailure}
import weir.program.{BadInput, DurationText, OptionValue}

/** `weir relay`: its options, and nothing else. */
@Command(
  name = "relay",
  sortOptions = false,
  description = Array(
    "Read tasks from a Kafka topic, run them, and write their results to another topic.",
    "",
    "A task is a URL, which the relay fetches. A URL without a host is fetched from a slow " +
      "web service in this process. Tasks of one key run in their order. Start the command " +
      "twice, and the two share the partitions. It ends when all tasks are done that were " +
      "there when it began.",
    ""
  ),
  footer = Array(
    "",
    "Without --brokers the program starts a broker of its own, in a separate JVM, which ends " +
      "with the last relay. Its data is in .weir/relay.",
    "Exit code: 0, 1 if the run failed, 2 for bad input, 130 after Ctrl-C.",
    ""
  )
)
final class Relay extends Callable[Int]:
  @Spec
  private[command] var spec: CommandSpec = scala.compiletime.uninitialized

  @Opt(
    names = Array("--brokers"),
    paramLabel = "HOST:PORT[,HOST:PORT]",
    description = Array("The brokers. Default: one of the program's own.")
  )
  private[command] var brokers: String | Null = null

  @Opt(
    names = Array("--from"),
    paramLabel = "TOPIC",
    description = Array("The topic of the tasks. Default: $" + "{DEFAULT-VALUE}.")
  )
  private[command] var from: String = "tasks"

  @Opt(
    names = Array("--to"),
    paramLabel = "TOPIC",
    description = Array("The topic for the results. Default: $" + "{DEFAULT-VALUE}.")
  )
  private[command] var to: String = "results"

  @Opt(
    names = Array("--dead"),
    paramLabel = "TOPIC",
    description = Array(
      "The topic for tasks that fail each time, with the error in the headers. Default: " +
        "$" + "{DEFAULT-VALUE}."
    )
  )
  private[command] var dead: String = "dead"

  @Opt(
    names = Array("--group"),
    paramLabel = "NAME",
    description = Array(
      "The consumer group, whose members share the tasks. Default: $" + "{DEFAULT-VALUE}."
    )
  )
  private[command] var group: String = "relay"

  @Opt(
    names = Array("--protocol"),
    paramLabel = "classic|consumer",
    description = Array(
      "The protocol by which the members divide the partitions; consumer needs a broker of " +
        "version 4.0 or newer. Default: $" + "{DEFAULT-VALUE}."
    )
  )
  private[command] var protocol: String = "classic"

  @Opt(
    names = Array("--parallel"),
    paramLabel = "N",
    description = Array("The number of tasks that run at a time. Default: $" + "{DEFAULT-VALUE}.")
  )
  private[command] var parallel: String = "64"

  @Opt(
    names = Array("--attempts"),
    paramLabel = "N",
    description = Array("The number of times that a task is tried. Default: $" + "{DEFAULT-VALUE}.")
  )
  private[command] var attempts: String = "3"

  @Opt(
    names = Array("--exactly-once"),
    description = Array("Write the results in transactions: each is there exactly once.")
  )
  private[command] var isExactlyOnce: Boolean = false

  @Opt(
    names = Array("--follow"),
    description = Array("Go on with later tasks, until Ctrl-C.")
  )
  private[command] var follows: Boolean = false

  @Opt(
    names = Array("--tasks"),
    paramLabel = "N",
    description = Array(
      "The number of tasks that the program first writes to its own broker, if none are left " +
        "there. Default: $" + "{DEFAULT-VALUE}."
    )
  )
  private[command] var tasks: String = "2000"

  @Opt(
    names = Array("--delay"),
    paramLabel = "DURATION",
    description = Array(
      "The time that the service in this process takes for an answer. Default: " +
        "$" + "{DEFAULT-VALUE}."
    )
  )
  private[command] var delay: String = "100ms"

  @Opt(
    names = Array("--json"),
    paramLabel = "FILE",
    description = Array("Also write the results to this file, as JSON.")
  )
  private[command] var json: String | Null = null

  def call(): Int =
    val line = spec.commandLine
    try RelayJob(settings, line.getOut, line.getErr).run()
    catch
      case failure: KafkaFailure =>
        line.getErr.println(s"weir relay: ${failure.getMessage}".linesIterator.mkString(" "))
        2

  private def settings: RelayJob.Settings =
    RelayJob.Settings(
      brokers = Option(brokers),
      from = topic("--from", from),
      to = topic("--to", to),
      dead = topic("--dead", dead),
      group = group,
      protocol = OptionValue.choice(
        "--protocol",
        protocol,
        "classic" -> GroupProtocol.Classic,
        "consumer" -> GroupProtocol.Consumer
      ),
      parallel = OptionValue.count("--parallel", parallel, 1, 100_000),
      attempts = OptionValue.count("--attempts", attempts, 1, 1_000_000),
      isExactlyOnce = isExactlyOnce,
      follows = follows,
      tasks = OptionValue.count("--tasks", tasks, 0, 10_000_000),
      delay = DurationText.parse("--delay", delay) match
        case fine if fine <= PurchaseService.longestDelay => fine
        case _ => throw BadInput("--delay", s"$delay is out of range.", "It must be up to 1min.")
      ,
      json = Option(json).map(OptionValue.target("--json", _))
    )

  private def topic(option: String, name: String): String =
    if !name.matches("[a-zA-Z0-9._-]{1,249}") then
      throw BadInput(
        option,
        s"'$name' can be no topic.",
        "A name has letters, digits, '.', '_' and '-'."
      )
    name
