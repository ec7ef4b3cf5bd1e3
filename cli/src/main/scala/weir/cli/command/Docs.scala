package weir.cli.command

import java.util.concurrent.Callable

import picocli.CommandLine.{Command, ExitCode}

/** Describes `weir docs` for `weir --help`. The launcher `./weir` runs the command itself. */
@Command(
  name = "docs",
  customSynopsis = Array("weir docs [--serve] [--port N]"),
  description = Array(
    "Make a web site of the documentation, with scaladoc and a search.",
    "",
    "Every link within it is checked; one that leads nowhere is named with its page and line. " +
      "The site is in target/site.",
    "",
    "--serve then shows it at http://127.0.0.1:8000/, until Ctrl-C; --port N at another port.",
    ""
  )
)
final class Docs extends Callable[Int]:
  def call(): Int =
    System.err.println("weir docs: start it with the launcher ./weir in a checkout of Weir")
    ExitCode.USAGE
