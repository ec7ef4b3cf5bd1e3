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
    "It checks every link within the site, and reports a broken one with its page and line. " +
      "The site is in target/site.",
    "",
    "--serve then serves it at http://127.0.0.1:8000/, until Ctrl-C; --port N chooses " +
      "another port.",
    ""
  )
)
final class Docs extends Callable[Int]:
  def call(): Int =
    System.err.println("weir docs: start it with the launcher ./weir in a checkout of Weir")
    ExitCode.USAGE
