package weir.feeds.run

import java.sql.SQLException
import scala.concurrent.duration.*

import weir.{Stream, Task}
import weir.feeds.fetch.{Answer, Backoff, Failure, Fetcher, Reason}
import weir.feeds.input.FeedUrl
import weir.feeds.run.DocumentExecutors.DocumentExecutor
import weir.feeds.store.{Check, DueFeed, DueQuery, FeedStore, Leases}
import weir.std.{CyclicBarrier, KeyedQueue, StreamMonitor}
import weir.std.KeyedQueue.Next

/** Checks every feed that is due, once.
  *
  * {{{
  *  half 0 of the keys -> prefetch \
  *                                  merge -> KeyedQueue, by host -> `parallel` at once -> store
  *  half 1 of the keys -> prefetch /            ^---- again, after a back-off
  * }}}
  *
  * Several processes may do this at once. A process leases a feed before it fetches it. If another
  * process has the lease, this one looks at the feed again until the other has checked it or lost
  * the lease. No process asks a host that wants a pause.
  */
final class FeedRun(
    feeds: FeedStore,
    leases: Leases,
    fetcher: Fetcher,
    backoff: Backoff,
    meter: Meter,
    limits: FeedRun.Limits,
    monitor: Option[StreamMonitor] = None
):
  import FeedRun.Pass

  /** Checks every feed of `due` and stores the results. `counts` is kept up to date.
    *
    * The first fetch begins once both halves have delivered a page. Otherwise the longest feeds of
    * the half that comes a little later would find no free place.
    *
    * **Cancelled**: fetches are interrupted, and their feeds stay due. A check that is being stored
    * is stored completely.
    */
  def checkAll(due: DueQuery, counts: FeedCounts): Task[Unit] =
    for
      attempts <- KeyedQueue[String, FetchAttempt](
        FeedRun.attemptsWaiting,
        _.feed.url.host,
        limits.perHost,
        _.priority(leases.worker)
      )
      begin <- CyclicBarrier(3)
      executors <- DocumentExecutors.forProcessors(Runtime.getRuntime.availableProcessors)
      pass = Pass(due, counts, executors)
      offered = offerHalf(due, 0, attempts, begin).merge(offerHalf(due, 1, attempts, begin))
      checks = attempts.process(limits.parallel)(check(_, pass)).named("fetch")
      _ <- Task.both(
        observed(offered).drain.guarantee(attempts.close.void),
        begin.await >> observed(checks).drain
      )
    yield ()

  private def offerHalf(
      due: DueQuery,
      number: Int,
      attempts: KeyedQueue[String, FetchAttempt],
      begin: CyclicBarrier
  ): Stream[Unit] =
    half(due, number)
      .prefetchN(FeedRun.pagesAhead)
      .zipWithIndex
      .evalMap((page, i) => attempts.offerAll(page) >> Task.when(i == 0)(begin.await))

  private def observed[A](stream: Stream[A]): Stream[A] =
    monitor.fold(stream)(stream.observed(_))

  /** Returns the pages of one half, longest expected feeds first; there is at least one, if only an
    * empty.
    */
  private def half(due: DueQuery, number: Int): Stream[Vector[FetchAttempt]] =
    Stream
      .bracket(Task.delay(feeds.cursor(due, number, FeedRun.pageSize)))(cursor =>
        Task.delay(cursor.close())
      )
      .flatMap: cursor =>
        val page = Task.delay(cursor.nextPage().map(FetchAttempt(_)))
        Stream.eval(page) ++ Stream.repeatEval(page).takeWhile(_.nonEmpty)
      .named("query")

  /** Tries to fetch the feed if this process has its lease and its host may be asked. */
  private def check(attempt: FetchAttempt, pass: Pass): Task[Next[FetchAttempt, Unit]] =
    val host = attempt.feed.url.host
    take(attempt, pass).flatMap:
      case Leases.Answer.Ours =>
        fetcher.pace
          .tryBegin(host)
          .flatMap:
            case None => fetch(attempt.copy(isTaken = false), pass)
            case Some(wait) => Task.pure(Next.Hold(attempt.copy(isTaken = true), wait))
      case Leases.Answer.Done => Task.delay(Next.Done(pass.counts.countElsewhere(attempt)))
      case Leases.Answer.Leased => Task.pure(Next.Again(attempt, FeedRun.leasedPause))
      case Leases.Answer.HostBusy => Task.pure(Next.Hold(attempt, FeedRun.busyPause))
      case Leases.Answer.HostHeld(left) => leaveAlone(attempt, left, pass)(Next.Hold(_, left))

  /** Takes the feed's lease. A feed that waits for the pause is taken already, but its host may
    * have been held since.
    */
  private def take(attempt: FetchAttempt, pass: Pass): Task[Leases.Answer] =
    val shared = limits.shared(attempt.feed.url.host)
    Task.uncancelable: _ =>
      Task.delay:
        if !attempt.isTaken then leases.take(attempt.feed, pass.due, shared)
        else
          shared
            .flatMap(_ => leases.knownHold(attempt.feed.url.host))
            .fold(Leases.Answer.Ours)(Leases.Answer.HostHeld(_))

  /** Handles a feed that is not fetched because a host wants a pause of `left`: the pass waits for
    * a short pause, and leaves the feed due after a long one.
    */
  private def leaveAlone(attempt: FetchAttempt, left: FiniteDuration, pass: Pass)(
      later: FetchAttempt => Next[FetchAttempt, Unit]
  ): Task[Next[FetchAttempt, Unit]] =
    Task.uncancelable: _ =>
      Task.delay:
        if attempt.isTaken || attempt.tries > 0 then leases.giveUp(attempt.feed)
        if left <= Backoff.longestWait then later(attempt.copy(isTaken = false))
        else Next.Done(pass.counts.countHeld(attempt))

  private def fetch(attempt: FetchAttempt, pass: Pass): Task[Next[FetchAttempt, Unit]] =
    Task.defer:
      pass.counts.began()
      val took = meter.begin(attempt.feed.url)
      fetcher
        .fetch(attempt.feed)
        .flatMap: answer =>
          val tried = attempt.afterTry(took(answer))
          held(answer).flatMap(settle(tried, _, pass))
        .guarantee(Task.delay(pass.counts.ended()))

  /** Holds the host if the answer asks for a pause. The returned failure says for how long. */
  private def held(answer: Answer): Task[Answer] =
    answer match
      case Answer.Failed(failure) if failure.busyHost.exists(limits.shared(_).nonEmpty) =>
        Task.uncancelable: _ =>
          Task.delay:
            val left = leases.holdHost(failure.busyHost.get, failure.retryAfter)
            Answer.Failed(failure.copy(retryAfter = Some(left)))
      case other => Task.pure(other)

  private def settle(
      attempt: FetchAttempt,
      answer: Answer,
      pass: Pass
  ): Task[Next[FetchAttempt, Unit]] =
    val again = answer match
      case Answer.Failed(failure) => backoff.waitFor(attempt.feed.id, attempt.tries, failure)
      case _ => None
    again match
      case Some(wait) =>
        Task
          .uncancelable(_ => Task.delay(rest(attempt.feed)))
          .as(Next.Again(attempt.afterWait(wait), wait))
      case None =>
        pass.executors.around(answer): executor =>
          outcomeOf(attempt.feed, answer, executor, pass)(end(attempt, _, _, pass))

  /** Gives up the host's permit during the back-off: any process may use it, this one too. */
  private def rest(feed: DueFeed): Unit =
    if limits.shared(feed.url.host).nonEmpty then leases.rest(feed)

  /** Ends the check, by `end`. If the answer is a page that names a feed, or says that the feed has
    * moved, that feed is fetched at once instead.
    */
  private def outcomeOf[A](feed: DueFeed, answer: Answer, executor: DocumentExecutor, pass: Pass)(
      end: (CheckOutcome.End, DocumentExecutor) => Task[A]
  ): Task[A] =
    def named(to: FeedUrl)(outcome: (DueFeed, Answer) => CheckOutcome.End) =
      val feedThere = feed.at(to)
      fetchNamed(answer, feedThere)
        .flatMap(held)
        .flatMap: answer =>
          pass.executors.within(executor, answer): executor =>
            executor(outcome(feedThere, answer)).flatMap(end(_, executor))
    executor(CheckOutcome.of(feed, answer)).flatMap:
      case whole: CheckOutcome.End => end(whole, executor)
      case page: CheckOutcome.Elsewhere =>
        named(page.feed)(CheckOutcome.behind(page, _, _))
      case announced: CheckOutcome.Announced =>
        named(announced.feed)(CheckOutcome.at(announced, _, _))

  /** Fetches `named`, the address that the document in `answer` gives, if it may lead there. */
  private def fetchNamed(answer: Answer, named: DueFeed): Task[Answer] =
    answer match
      case document: Answer.Document => fetcher.fetchNamed(document, named)
      case _ => fetcher.fetch(named)

  private def end(
      attempt: FetchAttempt,
      outcome: CheckOutcome.End,
      executor: DocumentExecutor,
      pass: Pass
  ): Task[Next[FetchAttempt, Unit]] =
    if outcome.reason == Reason.HostHeld then
      val left = outcome.failure.flatMap(_.retryAfter).getOrElse(Duration.Zero)
      leaveAlone(attempt, left, pass)(Next.Again(_, left))
    else
      Task
        .uncancelable(_ => executor(keep(attempt, outcome, pass)))
        .map:
          case true => Next.Done(())
          // The lease was lost, as after a pause of this process. Look at the feed again.
          case false => Next.Again(FetchAttempt(attempt.feed), FeedRun.leasedPause)

  /** Stores the check. Returns false if this process has lost the lease of the feed. Values that
    * the database cannot store are a failure of the feed; any other failure of the database fails
    * the task.
    */
  private def keep(attempt: FetchAttempt, outcome: CheckOutcome.End, pass: Pass): Boolean =
    try store(attempt, outcome, pass)
    catch
      case refused: SQLException if isOfData(refused) =>
        val failure = Failure(Reason.NotStored, String.valueOf(refused.getMessage))
        store(attempt, CheckOutcome.failed(failure), pass)

  private def isOfData(refused: SQLException): Boolean =
    Option(refused.getSQLState).exists(state => FeedRun.ofData(state.take(2)))

  private def store(attempt: FetchAttempt, outcome: CheckOutcome.End, pass: Pass): Boolean =
    val reason = outcome.reason
    val failures = if reason.isFailure then attempt.feed.failures + 1 else 0
    val stored = leases.record(
      Check(
        feed = attempt.feed,
        atMillis = System.currentTimeMillis(),
        tookMillis = attempt.chain.toMillis,
        outcome = reason.row(attempt.tries),
        detail = outcome.detail,
        failures = failures,
        holdOffMillis = outcome.failure
          .fold(outcome.holdOff)(HoldOff.after(failures, pass.due.staleMillis.millis, _))
          .toMillis,
        isGone = reason == Reason.Gone,
        movedTo = outcome.movedTo,
        livesAt = outcome.livesAt,
        found = outcome.found,
        renewed = outcome.renewed,
        trusted = outcome.trusted
      ),
      answeredBy = Option.when(!reason.isFailure)(outcome.host.getOrElse(attempt.feed.url.host))
    )
    val found = outcome.found.fold(0)(_.items.size)
    stored.foreach(pass.counts.count(attempt, reason, outcome.detail, found, _))
    stored.nonEmpty

object FeedRun:
  /** The objects that all feeds of a pass share. */
  private final case class Pass(due: DueQuery, counts: FeedCounts, executors: DocumentExecutors)

  /** @param perHost
    *   the number of requests to a host that may be in flight, by the host's name
    * @param shared
    *   the same over all processes; none if that is not counted
    */
  final case class Limits(parallel: Int, perHost: String => Int, shared: String => Option[Int])

  /** When to look again at a feed that another process has. */
  private val leasedPause = 1.second

  /** When to ask again for a permit of a host. */
  private val busyPause = 100.millis

  /** The classes of SQLSTATE for values that a column, or an index, cannot hold. */
  private val ofData = Set("22", "54")

  /** A page takes a millisecond to read and seconds to fetch, so one ahead is enough. */
  private val pageSize = 100
  private val pagesAhead = 1

  /** A feed takes some kilobytes, so these take some megabytes. There are enough to look past hosts
    * without a free permit.
    */
  private val attemptsWaiting = 10_000
