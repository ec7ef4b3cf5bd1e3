package weir.cli.command

import java.util.concurrent.Callable

import picocli.CommandLine.{Command, ExitCode}

/** Describes `weir example` for `weir --help`. The launcher `./weir` runs the command itself. */
@Command(
  name = "example",
  customSynopsis = Array("weir example NAME"),
  description = Array(
    "Run a program of the documentation.",
    "",
    "Without a name it lists them; their source is in docs/src/main/scala.",
    ""
  )
)
final class Example extends Callable[Int]:
  def call(): Int =
    System.err.println("weir example: start it with the launcher ./weir in a checkout of Weir")
    ExitCode.USAGE
