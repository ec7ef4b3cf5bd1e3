package weir.feeds.command

import java.util.concurrent.Callable

import picocli.CommandLine.{Command, Mixin, Option as Opt, Spec}
import picocli.CommandLine.Model.CommandSpec

import weir.feeds.manage.{FeedSort, ListJob}
import weir.program.{DurationText, ErrorTerminal, OptionValue}

/** `weir feeds list`: its options, and nothing else. */
@Command(
  name = "list",
  sortOptions = false,
  description = Array(
    "List the feeds: state, last check, next check, failures in a row, number of items.",
    "",
    "A state is ok, failing, gone (its server answered 410), disabled, or new. On a terminal " +
      "a feed has two lines. In a file or a pipe it has one, separated by tabs: state, last " +
      "check, next check, failures, items, address, title.",
    ""
  ),
  footer = Array(
    "",
    "Exit code: 0, also if there is no such feed; 1 when reading fails; 2 for bad input.",
    ""
  )
)
final class FeedsList extends Callable[Int]:
  @Spec
  private[command] var spec: CommandSpec = scala.compiletime.uninitialized

  @Mixin
  private[command] var database: FeedsDatabase = new FeedsDatabase

  @Opt(
    names = Array("--sort"),
    paramLabel = "BY",
    description = Array(
      "title, url, checked (the latest first), next (the soonest first), failures or items (the " +
        "most first). Default: title; with --failing, failures."
    )
  )
  private[command] var sort: String | Null = null

  @Opt(
    names = Array("--failing"),
    description = Array("List only the feeds whose last check failed.")
  )
  private[command] var isFailing: Boolean = false

  @Opt(
    names = Array("--stale"),
    paramLabel = "DURATION",
    description = Array(
      "The --stale of weir feeds, which decides when a feed is due again. Default: " +
        "$" + "{DEFAULT-VALUE}."
    )
  )
  private[command] var stale: String = "1h"

  @Opt(
    names = Array("--json"),
    description = Array("A JSON object a line.")
  )
  private[command] var isJson: Boolean = false

  def call(): Int =
    val line = spec.commandLine
    ListJob(settings, line.getOut, line.getErr).run()

  private def settings: ListJob.Settings =
    ListJob.Settings(
      sort = Option(sort).map(OptionValue.choice("--sort", _, FeedSort.words*)),
      isFailing = isFailing,
      staleMillis = DurationText.parse("--stale", stale).toMillis,
      isJson = isJson,
      columns = Option.when(ErrorTerminal.isThere)(ErrorTerminal.columns()),
      db = database.shown
    )
