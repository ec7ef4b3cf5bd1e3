package weir.lab.command

import java.util.concurrent.Callable

import picocli.CommandLine.{Command, Mixin, Option as Opt, Spec}
import picocli.CommandLine.Model.CommandSpec

import weir.lab.LabOptions
import weir.lab.burst.BurstJob
import weir.program.OptionValue

/** `weir burst`: its options, and nothing else. */
@Command(
  name = "burst",
  sortOptions = false,
  description = Array(
    "Run bursts of calls that block, on Weir and on the rivals' runtimes.",
    "",
    "It runs fibers that each run effects from inside of effects, then fibers that each " +
      "sleep in a blocking call, then bursts of these with pauses between them. It measures " +
      "the time, the OS threads and the heap of each.",
    ""
  ),
  footer = Array(
    "",
    "Exit code: 0, 1 when a figure is missing, 2 for bad input, 130 after Ctrl-C.",
    ""
  )
)
final class Burst extends Callable[Int]:
  @Spec
  private[command] var spec: CommandSpec = scala.compiletime.uninitialized

  @Mixin
  private[command] var lab: LabOptions = new LabOptions

  @Opt(
    names = Array("--fibers"),
    paramLabel = "N[,N]",
    description = Array(
      "The numbers of fibers that nest calls of runSync. Default: 10,20,50,100,200,500; with " +
        "--quick, 10,500."
    )
  )
  private[command] var fibers: String | Null = null

  @Opt(
    names = Array("--calls"),
    paramLabel = "N",
    description = Array(
      "The number of such calls that each fiber makes. Default: $" + "{DEFAULT-VALUE}."
    )
  )
  private[command] var calls: String = "100"

  @Opt(
    names = Array("--blocked"),
    paramLabel = "N[,N]",
    description = Array(
      "The numbers of fibers that block for 10 ms. Default: 100,1000,10000; with --quick, " +
        "1000,10000."
    )
  )
  private[command] var blocked: String | Null = null

  def call(): Int =
    val line = spec.commandLine
    BurstJob(settings, line.getOut, line.getErr).run()

  private[lab] def settings: BurstJob.Settings =
    val usualFibers = if lab.isQuick then "10,500" else "10,20,50,100,200,500"
    val usualBlocked = if lab.isQuick then "1000,10000" else "100,1000,10000"
    BurstJob.Settings(
      systems = lab.systems(BurstJob.systems),
      fibers = counts("--fibers", Option(fibers).getOrElse(usualFibers)),
      calls = OptionValue.count("--calls", calls, 1, 1_000_000),
      blocked = counts("--blocked", Option(blocked).getOrElse(usualBlocked)),
      caseTime = None,
      lab = lab.checked()
    )

  /** Returns the numbers of the list, in growing order. */
  private def counts(option: String, text: String): Vector[Int] =
    text.split(",", -1).toVector.map(OptionValue.count(option, _, 1, 100_000)).distinct.sorted
