package weir.cli.command

import java.util.concurrent.Callable

import picocli.CommandLine.{Command, ExitCode}

/** Describes `weir publish-local` for `weir --help`. The launcher `./weir` runs the command itself.
  */
@Command(
  name = "publish-local",
  customSynopsis = Array("weir publish-local"),
  description = Array(
    "Publish the library's artifacts for other builds on this machine.",
    "",
    "They go to the local Ivy repository, which sbt, Mill and scala-cli search, and to the " +
      "local Maven repository. The command prints the lines for your build.",
    ""
  )
)
final class PublishLocal extends Callable[Int]:
  def call(): Int =
    System.err.println(
      "weir publish-local: start it with the launcher ./weir in a checkout of Weir"
    )
    ExitCode.USAGE
