package weir.feeds.command

import java.time.{Instant, ZoneId}
import java.util.concurrent.Callable

import picocli.CommandLine.{Command, Mixin, Option as Opt, Spec}
import picocli.CommandLine.Model.CommandSpec

import weir.feeds.reader.{ItemsJob, Since}
import weir.program.{ErrorTerminal, OptionValue}

/** `weir feeds items`: its options, and nothing else. */
@Command(
  name = "items",
  sortOptions = false,
  description = Array(
    "List the items that weir feeds has stored, newest first.",
    "",
    "They are in the order of the dates that their feeds give them. An item with a date in " +
      "the future counts as published when it was first seen. On a terminal an item has two " +
      "lines. In a file or a pipe it has one: date, feed, title and link, separated by tabs.",
    ""
  ),
  footer = Array(
    "",
    "Exit code: 0, also if there is no such item; 1 when reading fails; 2 for bad input.",
    ""
  )
)
final class FeedsItems extends Callable[Int]:
  @Spec
  private[command] var spec: CommandSpec = scala.compiletime.uninitialized

  @Mixin
  private[command] var database: FeedsDatabase = new FeedsDatabase

  @Opt(
    names = Array("--since"),
    paramLabel = "DURATION|DATE",
    description = Array(
      "List all items that were first seen since this time: 90m or 1d ago, or from " +
        "2026-11-20 or 2026-11-20T09:30 on."
    )
  )
  private[command] var since: String | Null = null

  @Opt(
    names = Array("--feed"),
    paramLabel = "URL",
    description = Array("List only the items of the feed at this address.")
  )
  private[command] var feed: String | Null = null

  @Opt(
    names = Array("--limit"),
    paramLabel = "N",
    description = Array("List at most N items. Default: 50; with --since, all.")
  )
  private[command] var limit: String | Null = null

  @Opt(
    names = Array("--json"),
    description = Array(
      "Print a JSON object a line, with all that is stored of an item and its feed: the " +
        "times at which it was first seen and last changed, authors, categories, files, and " +
        "the texts of the feed, which are unsanitized HTML."
    )
  )
  private[command] var isJson: Boolean = false

  def call(): Int =
    val line = spec.commandLine
    ItemsJob(settings, line.getOut, line.getErr).run()

  private def settings: ItemsJob.Settings =
    val start = Option(since)
      .map(Since.parse("--since", _, Instant.now(), ZoneId.systemDefault))
    val usualLimit = Option.when(start.isEmpty)(50L)
    ItemsJob.Settings(
      db = database.shown,
      feed = Option(feed),
      sinceMillis = start,
      limit =
        Option(limit).map(OptionValue.number("--limit", _, 1, Long.MaxValue)).orElse(usualLimit),
      isJson = isJson,
      columns = Option.when(ErrorTerminal.isThere)(ErrorTerminal.columns())
    )
