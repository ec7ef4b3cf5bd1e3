package weir.cli.feeds.run

import java.sql.SQLException
import scala.concurrent.duration.*

import weir.{CyclicBarrier, KeyedQueue, Stream, StreamMonitor, Task}
import weir.KeyedQueue.Next
import weir.cli.feeds.fetch.{Answer, Backoff, Failure, Fetcher, Reason}
import weir.cli.feeds.input.FeedUrl
import weir.cli.feeds.store.{Check, DueFeed, DueQuery, FeedStore, Leases}

/** Checks every feed that is due, once.
  *
  * {{{
  *  half 0 of the keys -> prefetch \
  *                                  merge -> KeyedQueue, by host -> `parallel` at once -> store
  *  half 1 of the keys -> prefetch /            ^---- again, after a back-off
  * }}}
  *
  * Other processes may do the same: a feed is fetched once it is leased, and one that another
  * process has is looked at again until that one has checked it, or lost it.
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
  /** Done when every feed of `due` has been checked and stored; `tally` follows it.
    *
    * Nothing begins before both halves have delivered a page, or the longest feeds of the half that
    * is a little late would find all places taken.
    *
    * **Cancelled**: fetches are broken off, and their feeds stay due; a check that is just being
    * stored is stored whole.
    */
  def checkAll(due: DueQuery, tally: Tally): Task[Unit] =
    for
      turns <- KeyedQueue[String, Turn](
        FeedRun.turnsWaiting,
        _.feed.url.host,
        limits.perHost,
        _.priority(leases.worker)
      )
      begin <- CyclicBarrier(3)
      offered = offerHalf(due, 0, turns, begin).merge(offerHalf(due, 1, turns, begin))
      checks = turns.process(limits.parallel)(attempt(_, due, tally)).named("fetch")
      _ <- Task.both(
        observed(offered).drain.guarantee(turns.close.void),
        begin.await >> observed(checks).drain
      )
    yield ()

  private def offerHalf(
      due: DueQuery,
      number: Int,
      turns: KeyedQueue[String, Turn],
      begin: CyclicBarrier
  ): Stream[Unit] =
    half(due, number)
      .prefetchN(FeedRun.pagesAhead)
      .zipWithIndex
      .evalMap((page, i) => turns.offerAll(page) >> Task.when(i == 0)(begin.await))

  private def observed[A](stream: Stream[A]): Stream[A] =
    monitor.fold(stream)(stream.observed(_))

  /** The pages of one half, longest expected feeds first; there is at least one, if only an empty.
    */
  private def half(due: DueQuery, number: Int): Stream[Vector[Turn]] =
    Stream
      .bracket(Task.delay(feeds.cursor(due, number, FeedRun.pageSize)))(cursor =>
        Task.delay(cursor.close())
      )
      .flatMap: cursor =>
        val page = Task.delay(cursor.nextPage().map(Turn(_)))
        Stream.eval(page) ++ Stream.repeatEval(page).takeWhile(_.nonEmpty)
      .named("query")

  /** A try of the feed, if it is ours to fetch. */
  private def attempt(turn: Turn, due: DueQuery, tally: Tally): Task[Next[Turn, Unit]] =
    Task
      .uncancelable(_ => Task.delay(leases.take(turn.feed, due, limits.shared(turn.feed.url.host))))
      .flatMap:
        case Leases.Answer.Ours => fetch(turn, due, tally)
        case Leases.Answer.Done => Task.delay(Next.Done(tally.countElsewhere(turn)))
        case Leases.Answer.Leased => Task.pure(Next.Again(turn, FeedRun.leasedPause))
        case Leases.Answer.HostBusy => Task.pure(Next.Hold(turn, FeedRun.busyPause))

  private def fetch(turn: Turn, due: DueQuery, tally: Tally): Task[Next[Turn, Unit]] =
    Task.defer:
      tally.began()
      val took = meter.begin(turn.feed.url)
      fetcher
        .fetch(turn.feed)
        .flatMap(answer => settle(turn.afterTry(took(answer)), answer, due, tally))
        .guarantee(Task.delay(tally.ended()))

  private def settle(
      turn: Turn,
      answer: Answer,
      due: DueQuery,
      tally: Tally
  ): Task[Next[Turn, Unit]] =
    val again = answer match
      case Answer.Failed(failure) => backoff.waitFor(turn.feed.id, turn.tries, failure)
      case _ => None
    again match
      case Some(wait) =>
        Task
          .uncancelable(_ => Task.delay(rest(turn.feed)))
          .as(Next.Again(turn.afterWait(wait), wait))
      case None =>
        outcomeOf(turn.feed, answer)
          .flatMap(end => Task.uncancelable(_ => Task.delay(keep(turn, end, due, tally))))
          .map:
            case true => Next.Done(())
            // Not ours any more, as after a pause of this process: it is looked at again.
            case false => Next.Again(Turn(turn.feed), FeedRun.leasedPause)

  /** Other processes may use the turn of the host meanwhile, and so may this one. */
  private def rest(feed: DueFeed): Unit =
    if limits.shared(feed.url.host).nonEmpty then leases.rest(feed)

  /** Ends the check. The feed that a page names is fetched at once, in the place of the page, and
    * so is one that says that it has moved.
    */
  private def outcomeOf(feed: DueFeed, answer: Answer): Task[CheckOutcome.End] =
    Task
      .delay(CheckOutcome.of(feed, answer))
      .flatMap:
        case end: CheckOutcome.End => Task.pure(end)
        case page: CheckOutcome.Elsewhere =>
          val named = feed.copy(url = page.feed, etag = None, lastModified = None)
          fetchNamed(page.page, named).map(CheckOutcome.behind(page, named, _))
        case announced: CheckOutcome.Announced =>
          val named = feed.copy(url = announced.feed, etag = None, lastModified = None)
          fetchNamed(announced.from, named).map(CheckOutcome.at(announced, named, _))

  /** Fetches `named`, to which the document at `from` has led, if it may lead there. */
  private def fetchNamed(from: FeedUrl, named: DueFeed): Task[Answer] =
    Task
      .delay(fetcher.refusal(from, named.url))
      .flatMap:
        case Some(refused) => Task.pure(Answer.Failed(refused))
        case None => fetcher.fetch(named)

  /** Whether the check is stored: it is not, if the feed is not ours any more. What a database
    * cannot store is the feed's failure; any other failure of the database is ours.
    */
  private def keep(turn: Turn, outcome: CheckOutcome.End, due: DueQuery, tally: Tally): Boolean =
    try store(turn, outcome, due, tally)
    catch
      case refused: SQLException if isOfData(refused) =>
        val failure = Failure(Reason.NotStored, String.valueOf(refused.getMessage))
        store(turn, CheckOutcome.failed(failure), due, tally)

  private def isOfData(refused: SQLException): Boolean =
    Option(refused.getSQLState).exists(state => FeedRun.ofData(state.take(2)))

  private def store(turn: Turn, outcome: CheckOutcome.End, due: DueQuery, tally: Tally): Boolean =
    val reason = outcome.reason
    val failures = if reason.isFailure then turn.feed.failures + 1 else 0
    val fresh = leases.record(
      Check(
        feed = turn.feed,
        atMillis = System.currentTimeMillis(),
        tookMillis = turn.chain.toMillis,
        outcome = reason.row(turn.tries),
        detail = outcome.detail,
        failures = failures,
        holdOffMillis = outcome.failure
          .fold(outcome.holdOff)(HoldOff.after(failures, due.staleMillis.millis, _))
          .toMillis,
        isGone = reason == Reason.Gone,
        movedTo = outcome.movedTo,
        livesAt = outcome.livesAt,
        found = outcome.found,
        renewed = outcome.renewed
      )
    )
    fresh.foreach(tally.count(turn, reason, outcome.found.fold(0)(_.items.size), _))
    fresh.nonEmpty

object FeedRun:
  /** @param perHost
    *   how many requests to a host may be in flight, by the host's name
    * @param shared
    *   how many of all processes together, if that is counted
    */
  final case class Limits(parallel: Int, perHost: String => Int, shared: String => Option[Int])

  /** When to look again at a feed that another process has. */
  private val leasedPause = 1.second

  /** When to ask again for a turn of a host. */
  private val busyPause = 100.millis

  /** The classes of SQLSTATE for values that a column, or an index, cannot hold. */
  private val ofData = Set("22", "54")

  /** A page takes a millisecond to read and seconds to fetch, so one ahead is enough. */
  private val pageSize = 100
  private val pagesAhead = 1

  /** Some kilobytes a feed, so some megabytes; large enough to look past a host whose turn it is
    * not.
    */
  private val turnsWaiting = 10_000
