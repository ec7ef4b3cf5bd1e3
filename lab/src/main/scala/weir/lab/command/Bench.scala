package weir.lab.command

import java.util.concurrent.Callable

import picocli.CommandLine.{Command, Mixin, Option as Opt, Spec, Unmatched}
import picocli.CommandLine.Model.CommandSpec
import scala.jdk.CollectionConverters.*

import weir.lab.LabOptions
import weir.lab.bench.{BenchJob, JmhArguments, JmhModule}

/** `weir bench`: its options, and nothing else. */
@Command(
  name = "bench",
  sortOptions = false,
  customSynopsis = Array("weir bench [OPTION...] [JMH ARGUMENT...]"),
  description = Array(
    "Run the JMH benchmarks, each system in a JVM of its own.",
    "",
    "All other arguments are JMH's: -l lists the benchmarks, -h lists the options, and a " +
      "regular expression chooses benchmarks. Without one, all of them run, which takes an " +
      "hour.",
    ""
  ),
  footer = Array(
    "",
    "--quick: short iterations; if nothing else is given, of sequence and gather only.",
    "--seed has no effect here, since nothing is random.",
    "Exit code: 0, 1 if figures are missing, 2 for bad input, 130 after Ctrl-C.",
    ""
  )
)
final class Bench extends Callable[Int]:
  @Spec
  private[command] var spec: CommandSpec = scala.compiletime.uninitialized

  @Mixin
  private[command] var lab: LabOptions = LabOptions()

  // Without the short form, which is JMH's.
  @Opt(
    names = Array("--help"),
    usageHelp = true,
    description = Array("Show this help message and exit.")
  )
  private[command] var isHelp: Boolean = false

  @Unmatched
  private[command] var forJmh: java.util.List[String] = java.util.ArrayList()

  def call(): Int =
    val line = spec.commandLine
    val arguments = JmhArguments.parse(forJmh.asScala.toSeq)
    BenchJob(arguments, JmhModule.all, line.getOut, line.getErr).run(lab.checked(), lab.systems)
