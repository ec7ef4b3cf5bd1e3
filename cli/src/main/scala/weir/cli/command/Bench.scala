package weir.cli.command

import java.util.concurrent.Callable

import picocli.CommandLine.{Command, ExitCode}

/** What `weir --help` says about `weir bench`, which the launcher `./weir` does by itself. */
@Command(
  name = "bench",
  customSynopsis = Array("weir bench [JMH ARGUMENT...]"),
  description = Array(
    "Run the JMH benchmarks.",
    "",
    "All arguments are JMH's: -l lists the benchmarks, a regular expression chooses some, -h " +
      "lists the options.",
    ""
  )
)
final class Bench extends Callable[Int]:
  def call(): Int =
    System.err.println("weir bench: start it with the launcher ./weir in a checkout of Weir")
    ExitCode.USAGE
