package weir.feeds

import java.io.PrintWriter
import java.util.concurrent.atomic.AtomicReference
import scala.concurrent.duration.*

import weir.Task
import weir.feeds.give.Giver
import weir.feeds.report.{Failures, Progress, Summary, SummaryResults}
import weir.feeds.run.{Bound, FeedCounts, FeedRun}
import weir.feeds.store.{DueQuery, FeedStore, Leases}
import weir.program.{DurationText, Text}
import weir.program.report.RunReport

/** Fetches due feeds, once or again and again, and reports the results.
  *
  * @param giver
  *   gives new items to the receiver that the user has named
  * @param boundPlaces
  *   the number of answers that can be in flight at once, if the servers' times are known well
  *   enough for a bound
  */
final class Session(
    settings: FeedsSettings,
    store: FeedStore,
    leases: Leases,
    run: FeedRun,
    giver: Option[Giver],
    boundPlaces: Option[Int],
    seed: Long,
    out: PrintWriter,
    err: PrintWriter
):
  private val current = AtomicReference[Option[FeedCounts]](None)

  /** One pass, or passes for ever with `--watch`. */
  def all: Task[Unit] =
    val first = pass(isFirst = true)
    val passes = if settings.isWatching then first.flatMap(_ => watch) else first
    Task.race(passes, stayAlive).void

  /** Renews the leases, so that other processes see that this one is alive. */
  private def stayAlive: Task[Nothing] =
    Task
      .sleep(settings.lease / 3)
      .flatMap(_ => Task.uncancelable(_ => Task.delay(leases.renew())))
      .forever

  /** Returns the exit code of the process, once the passes are over: see [[Session.mostFailed]].
    * The failures of the local site do not count: they are intended.
    */
  def exitCode: Int =
    val isBad = boundPlaces.isEmpty && current.get.exists(_.snapshot().mostFailed)
    if isBad then Session.mostFailed else 0

  /** Prints what is left after a stop. */
  def sayWhatIsLeft(): Unit = if !settings.isQuiet then
    current.get match
      case Some(counts) if counts.snapshot().left > 0 =>
        val now = counts.snapshot()
        out.println(
          s"stopped: ${Text.grouped(now.done)} of ${Text.count(now.due, "due feed")} done, " +
            s"${Text.grouped(now.left)} left; the same command goes on"
        )
      case _ => out.println("stopped: no feed that was due is left")
    out.flush()

  private def watch: Task[Unit] =
    Task
      .defer(Task.sleep(untilNext(System.currentTimeMillis())))
      .flatMap(_ => pass(isFirst = false))
      .forever

  private def pass(isFirst: Boolean): Task[Unit] =
    Task.defer:
      val due = DueQuery(System.currentTimeMillis(), settings.stale.toMillis)
      val amount = store.amount(due)
      if isFirst && !settings.isQuiet then announce(due, amount)
      if amount.feeds == 0 then
        val nothing = FeedCounts(0, Duration.Zero).snapshot()
        Task.when(isFirst):
          around(Task.delay(write(Summary(nothing, Duration.Zero, None))))
      else
        val counts = FeedCounts(amount.feeds, amount.expectedMillis.millis)
        current.set(Some(counts))
        val start = System.nanoTime()
        val progress =
          if settings.isQuiet then Progress.none else Progress.on(err, amount.feeds)
        around:
          Progress
            .during(progress, counts, run.checkAll(due, counts))
            .flatMap(_ => Task.delay(report(counts, start, isFirst)))

  /** `fetching`, while new items are given, and then without the items that are not to be kept. */
  private def around(fetching: Task[Unit]): Task[Unit] =
    giver.fold(fetching)(_.during(fetching)) >>
      Task.when(!settings.retention.keepsAll)(sweep(0).map(tellRemoved))

  private def sweep(removed: Long): Task[Long] =
    Task
      .uncancelable: _ =>
        Task.delay(store.sweep(settings.retention).removeSome(System.currentTimeMillis()))
      .flatMap(more => if more == 0 then Task.pure(removed) else sweep(removed + more))

  private def tellRemoved(removed: Long): Unit =
    if removed > 0 && !settings.isQuiet then
      val what = s"${Text.count(removed, "item")} ${settings.retention.text}"
      out.println("removed".padTo(15, ' ') + what)
      out.flush()

  private def announce(due: DueQuery, amount: DueQuery.Amount): Unit =
    val size = store.size()
    val others = leases.others()
    val shared = others match
      case 0 => ""
      case 1 => "; another process fetches them, too"
      case more => s"; $more other processes fetch them, too"
    out.println(
      s"${Text.grouped(amount.feeds)} of ${Text.count(size, "feed")} in ${store.name} " +
        s"${if size == 1 then "is" else "are"} due${if amount.feeds > 0 then shared else next(due)}"
    )
    out.flush()

  private def next(due: DueQuery): String =
    store
      .nextAtMillis(due)
      .map(at => DurationText.show((at - due.asOfMillis).max(0).millis))
      .fold("")(time => s"; the next in $time")

  /** The whole table; for a later pass of `--watch`, which may be short, a line, if anything is
    * different than before. With `--quiet` nothing but what failed.
    */
  private def report(counts: FeedCounts, startNanos: Long, isFirst: Boolean): Unit =
    val taken = ((System.nanoTime() - startNanos) / 1_000_000).millis
    val snapshot = counts.snapshot()
    val summary = Summary(snapshot, taken, boundPlaces.map(Bound.of(snapshot.work, _)))
    if settings.isQuiet then Failures.print(snapshot, err)
    else
      if isFirst then
        out.println()
        summary.print(out)
      if settings.isWatching && (isFirst || snapshot.hasNews) then
        val now = DueQuery(System.currentTimeMillis(), settings.stale.toMillis)
        out.println(s"${summary.line}${next(now)}")
      out.flush()
    write(summary)

  private def write(summary: Summary): Unit =
    RunReport
      .of("feeds", seed, SummaryResults.of(summary))
      .write(settings.json, settings.report)

  /** Until the next feed falls due; but other processes may add feeds, so never very long. */
  private def untilNext(nowMillis: Long): FiniteDuration =
    val due = DueQuery(nowMillis, settings.stale.toMillis)
    val wait = store.nextAtMillis(due).fold(Session.longestNap)(at => (at - nowMillis + 1).millis)
    wait.max(Session.shortestNap).min(Session.longestNap)

object Session:
  /** More than half of the feeds that were checked failed: most likely the fault is here, as where
    * there is no network.
    */
  val mostFailed = 3

  /** Feeds that fall due at about the same time are fetched in one pass. */
  private val shortestNap = 1.second
  private val longestNap = 10.seconds
