package weir.feeds.command

import java.util.concurrent.Callable

import picocli.CommandLine.{Command, Option as Opt, Spec}
import picocli.CommandLine.Model.CommandSpec

import weir.feeds.{FeedsJob, FeedsSettings}
import weir.feeds.store.Retention
import weir.program.{BadInput, DurationText, OptionValue}

/** `weir feeds`: its options, and nothing else. */
@Command(
  name = "feeds",
  subcommands = Array(
    classOf[FeedsAdd],
    classOf[FeedsRemove],
    classOf[FeedsList],
    classOf[FeedsEnable],
    classOf[FeedsDisable],
    classOf[FeedsExport],
    classOf[FeedsItems],
    classOf[FeedsServe],
    classOf[FeedsStatus]
  ),
  sortOptions = false,
  description = Array(
    "Fetch all due feeds of a database concurrently, and store new items.",
    "",
    "If you have no feeds yet and give neither --opml nor --urls, the command runs a demo on " +
      "its own database, weir-feeds-demo.db. It fetches 500 feeds, good ones and all kinds of " +
      "bad ones, from a local site that this program runs itself. That needs no network.",
    "",
    "Any number of processes may share one database, with Postgres on several machines too. " +
      "They divide the due feeds, and no two of them fetch a feed at once.",
    ""
  ),
  footer = Array(
    "",
    "A duration is written like 250ms, 90s, 15m, 1h30m or 7d.",
    "HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY name HTTP proxies, as for curl.",
    "Lines of --urls and outlines of --opml that are no feeds are reported on standard error " +
      "and left out. With --strict, a single one of them is bad input.",
    "",
    "Exit code: 0 if every due feed was checked (some may have failed, which is normal), 1 " +
      "if the run itself or the COMMAND of --exec failed, 2 for bad input, such as a list " +
      "without a single good feed (then nothing was changed), 3 if every due feed was checked " +
      "and more than half of them failed, 130 after Ctrl-C.",
    ""
  )
)
final class Feeds extends Callable[Int]:
  @Spec
  private[command] var spec: CommandSpec = scala.compiletime.uninitialized

  @Opt(
    names = Array("--db"),
    paramLabel = "FILE|URL",
    description = Array(
      "An SQLite file, or jdbc:postgresql://HOST/DATABASE?user=U&password=P. If the file " +
        "does not exist and you give feeds, it is created. Default: weir-feeds.db, in the " +
        "current folder."
    )
  )
  private[command] var db: String | Null = null

  @Opt(
    names = Array("--opml"),
    paramLabel = "FILE",
    description = Array("First add the subscriptions of an OPML file; - is standard input.")
  )
  private[command] var opml: String | Null = null

  @Opt(
    names = Array("--urls"),
    paramLabel = "FILE",
    description = Array(
      "First add the URLs of a text file, one a line; # begins a comment; - is standard input."
    )
  )
  private[command] var urls: String | Null = null

  @Opt(
    names = Array("--strict"),
    description = Array("Add nothing if anything in --opml or --urls cannot be used.")
  )
  private[command] var isStrict: Boolean = false

  @Opt(
    names = Array("--parallel"),
    paramLabel = "N",
    description = Array("Make at most N fetches at once. Default: $" + "{DEFAULT-VALUE}.")
  )
  private[command] var parallel: String = "100"

  @Opt(
    names = Array("--per-host"),
    paramLabel = "N",
    description = Array(
      "Make at most N of them to one host, over all processes on the database. Default: 4; " +
        "100 for the local site, which each process runs for itself."
    )
  )
  private[command] var perHost: String | Null = null

  @Opt(
    names = Array("--host-pause"),
    paramLabel = "DURATION",
    description = Array(
      "The minimum time between the beginnings of two requests to one host. Default: 250ms; " +
        "0s for this machine."
    )
  )
  private[command] var hostPause: String | Null = null

  @Opt(
    names = Array("--stale"),
    paramLabel = "DURATION",
    description = Array(
      "The time after its last check at which a feed is due. A feed that keeps failing is " +
        "due later each time. Default: $" + "{DEFAULT-VALUE}."
    )
  )
  private[command] var stale: String = "1h"

  @Opt(
    names = Array("--lease"),
    paramLabel = "DURATION",
    description = Array(
      "The time for which a process that was killed on another machine keeps its feeds from " +
        "the others. Default: $" + "{DEFAULT-VALUE}."
    )
  )
  private[command] var lease: String = "30s"

  @Opt(
    names = Array("--timeout"),
    paramLabel = "DURATION",
    description = Array(
      "The time limit for one try: connecting, redirects and the body together. Default: " +
        "15s; 8s if there is only the local site to fetch."
    )
  )
  private[command] var timeout: String | Null = null

  @Opt(
    names = Array("--retries"),
    paramLabel = "N",
    description = Array(
      "Try again up to N times, with growing random pauses, after errors that may pass: a " +
        "server error, 429, a reset, a timeout while connecting. Default: " +
        "$" + "{DEFAULT-VALUE}."
    )
  )
  private[command] var retries: String = "2"

  @Opt(
    names = Array("--max-body"),
    paramLabel = "SIZE",
    description = Array(
      "Refuse a feed that is larger than this, decompressed. Default: $" + "{DEFAULT-VALUE}."
    )
  )
  private[command] var maxBody: String = "10MB"

  @Opt(
    names = Array("--allow-private"),
    description = Array(
      "Let servers name private addresses, such as those of this machine and of the local " +
        "network, in redirects, pages and feeds. Feeds that you add yourself may be anywhere."
    )
  )
  private[command] var allowsPrivate: Boolean = false

  @Opt(
    names = Array("--exec"),
    paramLabel = "COMMAND",
    description = Array(
      "Run this shell command for each new item, one after the other. The command gets the " +
        "item on its standard input, as a line of JSON, as items --json prints it. If the " +
        "command does not end with 0, the next run gives it the item again. If weir is killed, " +
        "the item under way may be given twice. All other items are given once, over all " +
        "processes on the database."
    )
  )
  private[command] var exec: String | Null = null

  @Opt(
    names = Array("--new-items"),
    paramLabel = "-",
    description = Array(
      "Print those lines on standard output instead, and all else on standard error."
    )
  )
  private[command] var newItems: String | Null = null

  @Opt(
    names = Array("--keep"),
    paramLabel = "DURATION",
    description = Array(
      "Remove items that were first seen longer ago than this, like 90d. An item that is removed " +
        "does not come back while its feed lists it. Default: all are kept."
    )
  )
  private[command] var keep: String | Null = null

  @Opt(
    names = Array("--keep-items"),
    paramLabel = "N",
    description = Array("Keep only the newest N items of each feed. Default: all.")
  )
  private[command] var keepItems: String | Null = null

  @Opt(
    names = Array("--user-agent"),
    paramLabel = "TEXT",
    description = Array("The name that is sent to servers. Default: weir-feeds and its home page.")
  )
  private[command] var userAgent: String | Null = null

  @Opt(
    names = Array("--watch"),
    description = Array(
      "Keep going: fetch feeds as they fall due, until Ctrl-C. A pass prints a line if items are " +
        "new or have changed, or if feeds began to fail, or to work again."
    )
  )
  private[command] var isWatching: Boolean = false

  @Opt(
    names = Array("--quiet"),
    description = Array("Print only the feeds that failed, with the reasons, on standard error.")
  )
  private[command] var isQuiet: Boolean = false

  @Opt(
    names = Array("--stages"),
    description = Array(
      "At the end, show on standard error how busy each part of the pipe was: reading due " +
        "feeds, waiting for a feed whose host may be asked, and fetching. While the run goes " +
        "on, the pages of weir feeds serve show it."
    )
  )
  private[command] var showsStages: Boolean = false

  @Opt(
    names = Array("--json"),
    paramLabel = "FILE",
    description = Array("Also write the results to this file, as JSON.")
  )
  private[command] var json: String | Null = null

  @Opt(
    names = Array("--report"),
    paramLabel = "FILE.html",
    description = Array("Also write the results to this file, as a page with charts.")
  )
  private[command] var report: String | Null = null

  @Opt(
    names = Array("--seed"),
    paramLabel = "N",
    description = Array(
      "The seed of the local site's feeds and latencies, and of the random pauses. Default: " +
        "1 for a new local site, and later the seed with which it was made; otherwise random."
    )
  )
  private[command] var seed: String | Null = null

  @Opt(
    names = Array("--speed"),
    paramLabel = "FACTOR",
    description = Array(
      "Divides the local site's latencies, its usual --timeout and the pauses between tries. " +
        "Default: $" + "{DEFAULT-VALUE}."
    )
  )
  private[command] var speed: String = "1"

  @Opt(
    names = Array("--site-feeds"),
    paramLabel = "N",
    description = Array(
      "The number of feeds of a new local site. Default: 500. It makes the run a demo, which " +
        "is kept in the database of --db, if given."
    )
  )
  private[command] var siteFeeds: String | Null = null

  @Opt(
    names = Array("--site-large"),
    paramLabel = "N",
    description = Array(
      "The number of these feeds that are documents of 7 MB. Default: $" + "{DEFAULT-VALUE}."
    )
  )
  private[command] var siteLarge: String = "0"

  def call(): Int =
    val line = spec.commandLine
    FeedsJob(settings, line.getOut, line.getErr).run()

  private def settings: FeedsSettings =
    FeedsSettings(
      db = Option(db),
      opml = Option(opml).map(OptionValue.path("--opml", _)),
      urls = Option(urls).map(OptionValue.path("--urls", _)),
      isStrict = isStrict,
      parallel = OptionValue.count("--parallel", parallel, 1, 100_000),
      perHost = Option(perHost).map(OptionValue.count("--per-host", _, 1, 100_000)),
      hostPause = Option(hostPause).map(DurationText.parse("--host-pause", _)),
      stale = DurationText.parse("--stale", stale),
      lease = OptionValue.positive("--lease", lease),
      timeout = Option(timeout).map(OptionValue.positive("--timeout", _)),
      retries = OptionValue.count("--retries", retries, 0, 20),
      maxBodyBytes = FeedsSettings.size("--max-body", maxBody),
      allowsPrivate = allowsPrivate,
      userAgent = Option(userAgent).map(FeedsSettings.userAgent("--user-agent", _)),
      isWatching = isWatching,
      isQuiet = isQuiet,
      showsStages = showsStages,
      json = Option(json).map(OptionValue.target("--json", _)),
      report = Option(report).map(OptionValue.target("--report", _)),
      seed = Option(seed).map(OptionValue.number("--seed", _, Long.MinValue, Long.MaxValue)),
      siteSize = Option(siteFeeds).map(OptionValue.count("--site-feeds", _, 1, 100_000)),
      siteLarge = OptionValue.count("--site-large", siteLarge, 0, 100_000),
      speed = OptionValue.factor("--speed", speed),
      retention = Retention(
        Option(keep).map(OptionValue.positive("--keep", _)),
        Option(keepItems).map(OptionValue.count("--keep-items", _, 1, Int.MaxValue))
      ),
      gives = gives
    )

  private def gives: Option[FeedsSettings.Gives] = (Option(exec), Option(newItems)) match
    case (None, None) => None
    case (Some(_), Some(_)) =>
      throw BadInput("--exec", "it cannot be given with --new-items.", "Give one of the two.")
    case (Some(command), None) =>
      if command.isBlank then
        throw BadInput("--exec", "the command is empty.", "Give one, like 'cat >> new.jsonl'.")
      Some(FeedsSettings.Gives.Exec(command))
    case (None, Some("-")) => Some(FeedsSettings.Gives.Print)
    case (None, Some(other)) =>
      throw BadInput("--new-items", s"'$other' is not known.", "It must be -, for standard output.")
