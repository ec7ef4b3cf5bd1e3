package weir.lab.command

import java.util.concurrent.Callable

import picocli.CommandLine.{Command, Mixin, Option as Opt, Spec}
import picocli.CommandLine.Model.CommandSpec

import weir.lab.LabOptions
import weir.lab.kafkabench.KafkaBenchJob
import weir.program.OptionValue

/** `weir kafka-bench`: its options, and nothing else. */
@Command(
  name = "kafka-bench",
  sortOptions = false,
  description = Array(
    "Read topics with Weir's consumer, a loop of Kafka's own client, and Parallel Consumer.",
    "",
    "The records have 100 bytes, in one partition and in eight. First they are only read. " +
      "Then each has a call that blocks for 10 ms, or 1 ms, with 1,000 keys and 256 calls at a " +
      "time. " +
      "The program starts a broker of its own. Each system has a JVM of its own, and they take " +
      "turns.",
    ""
  ),
  footer = Array(
    "",
    "It takes about fourteen minutes; with --quick, two.",
    "Exit code: 0, 1 when a figure is missing, 2 for bad input, 130 after Ctrl-C.",
    ""
  )
)
final class KafkaBench extends Callable[Int]:
  @Spec
  private[command] var spec: CommandSpec = scala.compiletime.uninitialized

  @Mixin
  private[command] var lab: LabOptions = new LabOptions

  @Opt(
    names = Array("--records"),
    paramLabel = "N",
    description = Array(
      "The number of records that are only read. Default: 3000000; with --quick, 500000."
    )
  )
  private[command] var records: String | Null = null

  @Opt(
    names = Array("--worked"),
    paramLabel = "N",
    description = Array("The number of records with a call. Default: 100000; with --quick, 20000.")
  )
  private[command] var worked: String | Null = null

  @Opt(
    names = Array("--turns"),
    paramLabel = "N",
    description = Array("The number of JVMs of each system. Default: 5; with --quick, 1.")
  )
  private[command] var turns: String | Null = null

  def call(): Int =
    val line = spec.commandLine
    KafkaBenchJob(settings, line.getOut, line.getErr).run()

  private def settings: KafkaBenchJob.Settings =
    val (usualRecords, usualWorked, usualTurns) =
      if lab.isQuick then ("500000", "20000", "1") else ("3000000", "100000", "5")
    KafkaBenchJob.Settings(
      systems = lab.systems(KafkaBenchJob.systems),
      cases = KafkaBenchJob.cases(
        OptionValue.count("--records", Option(records).getOrElse(usualRecords), 1000, 100_000_000),
        OptionValue.count("--worked", Option(worked).getOrElse(usualWorked), 1000, 10_000_000),
        lab.isQuick
      ),
      turns = OptionValue.count("--turns", Option(turns).getOrElse(usualTurns), 1, 100),
      lab = lab.checked()
    )
