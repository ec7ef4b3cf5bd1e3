package weir.feeds

import java.io.PrintWriter
import java.net.URI
import java.util.concurrent.ThreadLocalRandom
import scala.concurrent.duration.*

import weir.{Stream, Task}
import weir.feeds.fetch.{Backoff, Fetcher, HostPace, Proxies}
import weir.feeds.give.{Giver, Receiver}
import weir.feeds.input.{FeedList, LoopbackHost, Opml, UrlList}
import weir.feeds.report.InputProblems
import weir.feeds.run.{FeedRun, HoldOff, Meter}
import weir.feeds.site.{LocalSite, SitePlan}
import weir.feeds.store.{FeedEdits, FeedOrigin, FeedStore, Leases, Stages}
import weir.program.{Foreground, Text}
import weir.std.StreamMonitor

/** The whole of `weir feeds`: reads the input, opens the database, and runs until every due feed is
  * fetched.
  */
final class FeedsJob(settings: FeedsSettings, stdout: PrintWriter, err: PrintWriter):
  /** The output for people. */
  private val out = if settings.gives.contains(FeedsSettings.Gives.Print) then err else stdout

  /** The exit code: 1 if a new item could not be given.
    *
    * **Fails** with [[weir.program.BadInput]] before anything has been written.
    */
  def run(): Int =
    val listed = settings.opml.fold(FeedList.empty)(Opml.read) ++
      settings.urls.fold(FeedList.empty)(UrlList.read)
    val proxies = Proxies.of(sys.env)
    InputProblems.check(listed, settings.isStrict, err)
    val store = RunDatabase(settings, out, err).open(hasFeeds = listed.feeds.nonEmpty)
    try
      if listed.feeds.nonEmpty then add(store, listed)
      else if settings.siteSize.nonEmpty || store.origin.isEmpty then addSite(store)
      val site = Option.when(store.origin.contains(FeedOrigin.Demo))(startSite(store))
      try
        val leases = store.lease(settings.lease)
        try fetch(store, leases, site, proxies)
        finally leases.close()
      finally site.foreach(_.close())
    finally store.close()

  private def fetch(
      store: FeedStore,
      leases: Leases,
      site: Option[LocalSite],
      proxies: Proxies
  ): Int =
    val timeout =
      settings.timeout.getOrElse(if site.nonEmpty then siteTimeout else FeedsSettings.usualTimeout)
    val seed = settings.seed
      .orElse(site.map(_.plan.seed))
      .getOrElse(ThreadLocalRandom.current().nextLong(1, 1_000_000_000))
    val address: URI => URI = uri => site.fold(uri)(_.address(uri))
    val fetcher = Fetcher(
      timeout,
      settings.maxBodyBytes,
      address,
      settings.allowsPrivate,
      pace = HostPace(hostPause),
      heldFor = host => shared(host).flatMap(_ => leases.hold(host)),
      userAgent = settings.userAgent.getOrElse(Fetcher.userAgent),
      proxies = proxies
    )
    val monitor = Option.when(settings.showsStages)(StreamMonitor.unsafe())
    val run = FeedRun(
      store,
      leases,
      fetcher,
      Backoff(settings.retries, backoffBase, seed),
      site.fold(Meter.clock)(Meter.planned(_, timeout)),
      FeedRun.Limits(settings.parallel, perHost, shared),
      monitor
    )
    val places = site.map(_ => settings.parallel min perHost(LocalSite.host))
    val giver = settings.gives.map: gives =>
      Giver(store.outbox(leases), receiver(gives), gives.option, err)
    val session = Session(settings, store, leases, run, giver, places, seed, out, err)
    try
      Foreground.run(monitor.fold(session.all)(telling(store, _)(session.all))) match
        case Foreground.Ended.Done(_) =>
          if giver.exists(_.hasFailed) then 1 else session.exitCode
        case Foreground.Ended.Stopped(code, isClean) =>
          session.sayWhatIsLeft()
          if !isClean then Runtime.getRuntime.halt(code)
          code
    finally
      for stages <- monitor.map(_.snapshot) if stages.stretches.nonEmpty do
        err.println(stages.table)
      fetcher.close()

  private def receiver(gives: FeedsSettings.Gives): Receiver = gives match
    case FeedsSettings.Gives.Exec(command) => Receiver.command(command)
    case FeedsSettings.Gives.Print => Receiver.printing(stdout)

  /** Writes into the database how busy the stages are, while `pass` runs and at its end, for the
    * pages of `weir feeds serve`.
    */
  private def telling(store: FeedStore, monitor: StreamMonitor)(pass: Task[Unit]): Task[Unit] =
    val tell = Task.delay:
      val stages = monitor.snapshot
      if stages.stretches.nonEmpty then
        Stages.write(store, Stages(System.currentTimeMillis(), stages.table))
    val now = Stream.fixedDelay(FeedsJob.tellEvery).evalForeach(_ => tell)
    now.background.use(_ => pass).guarantee(tell)

  private def add(store: FeedStore, listed: FeedList): Unit =
    val added = store.add(listed.feeds)
    FeedEdits(store)
      .lookAgainSooner(listed.feeds.map(_.url), HoldOff.doubled(_, settings.stale).toMillis)
    val known = listed.feeds.size - added
    val bad = listed.problems.size
    val rest = if known == 0 then "" else s", ${Text.grouped(known)} known already"
    val problems = if bad == 0 then "" else s", ${Text.count(bad, "problem")} in the input"
    if !settings.isQuiet then out.println(s"${Text.count(added, "feed")} added$rest$problems")

  /** Adds the site's feeds, unless they exist already. */
  private def addSite(store: FeedStore): Unit =
    if !store.origin.contains(FeedOrigin.Demo) then
      val seed = settings.seed.getOrElse(1L)
      val size = settings.siteSize.getOrElse(FeedsSettings.usualSiteSize)
      val plan = SitePlan.make(seed, size, settings.speed, settings.siteLarge)
      val timeout = settings.timeout.getOrElse(siteTimeout)
      val feeds = LocalSite.newFeeds(plan, timeout, settings.retries, backoffBase)
      val facts = Seq(
        FeedsJob.siteSeed -> s"$seed",
        FeedsJob.siteSize -> s"$size",
        FeedsJob.siteLarge -> s"${settings.siteLarge}"
      )
      store.addDemo(feeds, facts): Unit
      if !settings.isQuiet then
        out.println(
          s"a local site of ${Text.count(size, "feed")} runs in this process (seed $seed)"
        )
      out.flush()

  /** The same site again that the feeds in the database came from, unless another seed is given. */
  private def startSite(store: FeedStore): LocalSite =
    val seed = settings.seed.orElse(store.fact(FeedsJob.siteSeed).flatMap(_.toLongOption))
    val size = store.fact(FeedsJob.siteSize).flatMap(_.toIntOption)
    val large = store.fact(FeedsJob.siteLarge).flatMap(_.toIntOption)
    LocalSite.start(
      SitePlan.make(
        seed.getOrElse(1L),
        size.orElse(settings.siteSize).getOrElse(FeedsSettings.usualSiteSize),
        settings.speed,
        large.getOrElse(settings.siteLarge)
      )
    )

  private def perHost(host: String): Int =
    settings.perHost.getOrElse:
      if host == LocalSite.host then FeedsSettings.sitePerHost else FeedsSettings.usualPerHost

  /** Each process runs a local site of its own. */
  private def shared(host: String): Option[Int] =
    Option.when(host != LocalSite.host)(perHost(host))

  private def hostPause(host: String): FiniteDuration =
    settings.hostPause.getOrElse:
      if LoopbackHost.is(host) then Duration.Zero else FeedsSettings.usualHostPause

  private def siteTimeout: FiniteDuration = divided(FeedsSettings.siteTimeout)

  private def backoffBase: FiniteDuration = divided(Backoff.base)

  private def divided(time: FiniteDuration): FiniteDuration =
    (time.toMillis / settings.speed).toLong.max(1).millis

object FeedsJob:
  private val siteSeed = "site seed"
  private val siteSize = "site feeds"
  private val siteLarge = "site large"

  /** As often as the pages look. */
  private val tellEvery = 2.seconds
