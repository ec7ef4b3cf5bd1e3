package weir.lab.command

import java.util.concurrent.Callable

import picocli.CommandLine.{Command, Mixin, Option as Opt, Spec}
import picocli.CommandLine.Model.CommandSpec

import weir.cli.purchases.PurchaseService
import weir.lab.LabOptions
import weir.lab.clients.{ClientsJob, Way}
import weir.program.{BadInput, DurationText, OptionValue}

/** `weir clients`: its options, and nothing else. */
@Command(
  name = "clients",
  sortOptions = false,
  description = Array(
    "Ask a slow web service for the purchases of 20 clients, in seven ways.",
    "",
    "The service runs in this process and takes 2 s for an answer. Each way to ask runs in a " +
      "JVM of its own, with 256 MB. The ways that have no limit then ask about 10,000 clients.",
    ""
  ),
  footer = Array(
    "",
    "A duration is written like 250ms or 2s.",
    "Exit code: 0, 1 when a figure is missing, 2 for bad input, 130 after Ctrl-C.",
    ""
  )
)
final class Clients extends Callable[Int]:
  @Spec
  private[command] var spec: CommandSpec = scala.compiletime.uninitialized

  @Mixin
  private[command] var lab: LabOptions = new LabOptions

  @Opt(
    names = Array("--delay"),
    paramLabel = "DURATION",
    description = Array("The time that the service takes. Default: $" + "{DEFAULT-VALUE}.")
  )
  private[command] var delay: String = "2s"

  @Opt(
    names = Array("--ids"),
    paramLabel = "N",
    description = Array(
      "The number of clients for every way. Default: $" + "{DEFAULT-VALUE}."
    )
  )
  private[command] var ids: String = "20"

  @Opt(
    names = Array("--many"),
    paramLabel = "N",
    description = Array(
      "The number of clients for the ways that have no limit. Default: $" + "{DEFAULT-VALUE}."
    )
  )
  private[command] var many: String = "10000"

  @Opt(
    names = Array("--port"),
    paramLabel = "N",
    description = Array("Serve there until Ctrl-C, and measure nothing; 0 takes any free port.")
  )
  private[command] var port: String | Null = null

  def call(): Int =
    val line = spec.commandLine
    ClientsJob(settings, line.getOut, line.getErr).run()

  private[lab] def settings: ClientsJob.Settings =
    val ways = Way.values.toVector
    val systems = lab.systems(ways.map(_.system))
    ClientsJob.Settings(
      ways = ways.filter(way => systems.contains(way.system)),
      delay = DurationText.parse("--delay", delay) match
        case fine if fine.toMillis >= 1 && fine <= PurchaseService.longestDelay => fine
        case _ =>
          throw BadInput("--delay", s"$delay is out of range.", "It must be from 1ms to 1min.")
      ,
      port = Option(port).map(OptionValue.count("--port", _, 0, 65_535)),
      few = OptionValue.count("--ids", ids, 1, 100),
      many = OptionValue.count("--many", many, 1, PurchaseService.mostRequests),
      warmUp = ClientsJob.usualWarmUp,
      lab = lab.checked()
    )
