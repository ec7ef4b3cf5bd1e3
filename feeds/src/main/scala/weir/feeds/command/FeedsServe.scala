package weir.feeds.command

import java.util.concurrent.Callable

import picocli.CommandLine.{Command, Mixin, Option as Opt, Spec}
import picocli.CommandLine.Model.CommandSpec

import weir.feeds.reader.ServeJob
import weir.program.{DurationText, OptionValue}

/** `weir feeds serve`: its options, and nothing else. */
@Command(
  name = "serve",
  sortOptions = false,
  description = Array(
    "Show the stored feeds and items as pages in a browser, on this machine only.",
    "",
    "The pages have the newest items, the feeds, and the failures with their reasons. With " +
      "JavaScript the pages follow a weir feeds --watch on the same database; without it, " +
      "reload them. They load nothing from other servers: each picture of an item is a link.",
    ""
  ),
  footer = Array(
    "",
    "Exit code: 1 when serving fails, 2 for bad input, 130 after Ctrl-C.",
    ""
  )
)
final class FeedsServe extends Callable[Int]:
  @Spec
  private[command] var spec: CommandSpec = scala.compiletime.uninitialized

  @Mixin
  private[command] var database: FeedsDatabase = new FeedsDatabase

  @Opt(
    names = Array("--port"),
    paramLabel = "N",
    description = Array("0 takes any free port. Default: $" + "{DEFAULT-VALUE}.")
  )
  private[command] var port: String = "8080"

  @Opt(
    names = Array("--stale"),
    paramLabel = "DURATION",
    description = Array(
      "The --stale of weir feeds, which decides when a feed is due again. Default: " +
        "$" + "{DEFAULT-VALUE}."
    )
  )
  private[command] var stale: String = "1h"

  def call(): Int =
    val line = spec.commandLine
    ServeJob(settings, line.getOut).run()

  private def settings: ServeJob.Settings =
    ServeJob.Settings(
      db = database.shown,
      port = OptionValue.count("--port", port, 0, 65_535),
      staleMillis = DurationText.parse("--stale", stale).toMillis
    )
