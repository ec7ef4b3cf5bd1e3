package weir.feeds.command

import java.util.concurrent.Callable

import picocli.CommandLine.{Command, Mixin, Option as Opt, Spec}
import picocli.CommandLine.Model.CommandSpec

import weir.feeds.StatusJob
import weir.program.OptionValue

/** `weir feeds status`: its options, and nothing else. */
@Command(
  name = "status",
  sortOptions = false,
  description = Array(
    "Show the processes that fetch the feeds of a database, and the feeds of each.",
    ""
  ),
  footer = Array(
    "",
    "Exit code: 0, also if there is no such process; 1 when reading fails; 2 for bad input.",
    ""
  )
)
final class FeedsStatus extends Callable[Int]:
  @Spec
  private[command] var spec: CommandSpec = scala.compiletime.uninitialized

  @Mixin
  private[command] var database: FeedsDatabase = new FeedsDatabase

  @Opt(
    names = Array("--limit"),
    paramLabel = "N",
    description = Array("Show at most N feeds of each process. Default: $" + "{DEFAULT-VALUE}.")
  )
  private[command] var limit: String = "10"

  def call(): Int =
    val line = spec.commandLine
    StatusJob(
      database.shown,
      OptionValue.count("--limit", limit, 0, 1_000_000),
      line.getOut
    ).run()
