package weir.lab.command

import java.util.concurrent.Callable

import picocli.CommandLine.{Command, Mixin, Option as Opt, Spec}
import picocli.CommandLine.Model.CommandSpec

import weir.lab.LabOptions
import weir.lab.sleepers.SleepersJob
import weir.program.OptionValue

/** `weir sleepers`: its options, and nothing else. */
@Command(
  name = "sleepers",
  sortOptions = false,
  description = Array(
    "Measure the cost of a sleeping fiber, on Weir and on the rivals' runtimes.",
    "",
    "It first measures the heap of each of many sleeping fibers: the fiber, its next step, " +
      "and its place in the timer. Then it measures how late fibers wake if a million of them " +
      "sleep for 2 to 6 seconds each.",
    ""
  ),
  footer = Array(
    "",
    "Each figure has a JVM of its own, with 3 GB of heap. It takes about two minutes.",
    "Exit code: 0, 1 when a figure is missing, 2 for bad input, 130 after Ctrl-C.",
    ""
  )
)
final class Sleepers extends Callable[Int]:
  @Spec
  private[command] var spec: CommandSpec = scala.compiletime.uninitialized

  @Mixin
  private[command] var lab: LabOptions = new LabOptions

  @Opt(
    names = Array("--asleep"),
    paramLabel = "N",
    description = Array(
      "The number of fibers that sleep while the heap is measured. Default: 100000; with " +
        "--quick, 20000."
    )
  )
  private[command] var asleep: String | Null = null

  @Opt(
    names = Array("--wake"),
    paramLabel = "N",
    description = Array("The number of fibers that wake. Default: 1000000; with --quick, 100000.")
  )
  private[command] var wake: String | Null = null

  def call(): Int =
    val line = spec.commandLine
    SleepersJob(settings, line.getOut, line.getErr).run()

  private[lab] def settings: SleepersJob.Settings =
    val (usualAsleep, usualWake) =
      if lab.isQuick then ("20000", "100000") else ("100000", "1000000")
    SleepersJob.Settings(
      systems = lab.systems(SleepersJob.systems),
      asleep = OptionValue.count("--asleep", Option(asleep).getOrElse(usualAsleep), 1, 2_000_000),
      wake = OptionValue.count("--wake", Option(wake).getOrElse(usualWake), 1, 2_000_000),
      shortest = SleepersJob.usualShortest,
      longest = SleepersJob.usualLongest,
      lab = lab.checked()
    )
