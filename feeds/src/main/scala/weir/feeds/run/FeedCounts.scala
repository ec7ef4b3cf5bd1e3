package weir.feeds.run

import scala.concurrent.duration.*

import weir.feeds.fetch.Reason
import weir.feeds.store.Recorded

/** Counts the feeds of a run by how their checks ended. The fibers of the run write the counts; the
  * display and the report read them.
  */
final class FeedCounts(dueAtFirst: Long, val expected: FiniteDuration):
  // guarded by this
  private var rows = Map.empty[(Reason, String), FeedCounts.Row]
  private var inFlight = 0
  private var fetched = 0L
  private var failed = 0L
  private var elsewhere = 0L
  private var held = 0L
  private var changed = 0L
  private var turned = 0L
  private var failures = Vector.empty[FeedCounts.Failed]
  private var settled: FiniteDuration = Duration.Zero
  private var work = FeedCounts.Work(0, Duration.Zero, Duration.Zero, Duration.Zero)

  def began(): Unit = synchronized(inFlight += 1)

  def ended(): Unit = synchronized(inFlight -= 1)

  /** Counts a feed whose check has been stored. */
  def count(
      attempt: FetchAttempt,
      reason: Reason,
      detail: Option[String],
      itemsFound: Int,
      stored: Recorded
  ): Unit = synchronized:
    val key = (reason, reason.row(attempt.tries))
    val row = rows.getOrElse(key, FeedCounts.Row(0, 0, 0))
    rows = rows.updated(
      key,
      FeedCounts.Row(row.feeds + 1, row.found + itemsFound, row.fresh + stored.fresh)
    )
    changed += stored.changed
    if reason.isFailure != attempt.feed.failures > 0 then turned += 1
    if reason.isFailure && failures.size < FeedCounts.mostFailures then
      failures :+= FeedCounts.Failed(
        attempt.feed.url.text,
        s"${reason.text}${detail.fold("")(": " + _)}"
      )
    if reason.isFailure then failed += 1 else fetched += 1
    settled += attempt.feed.expectedMillis.millis
    work = FeedCounts.Work(
      retries = work.retries + attempt.tries - 1,
      service = work.service + attempt.service,
      waited = work.waited + attempt.waited,
      longestChain = work.longestChain max attempt.chain
    )

  /** Counts a feed that another process has checked. */
  def countElsewhere(attempt: FetchAttempt): Unit = synchronized:
    elsewhere += 1
    settled += attempt.feed.expectedMillis.millis

  /** Counts a feed that was not asked for, since its host wants a pause: it stays due. */
  def countHeld(attempt: FetchAttempt): Unit = synchronized:
    val key = (Reason.HostHeld, Reason.HostHeld.text)
    val row = rows.getOrElse(key, FeedCounts.Row(0, 0, 0))
    rows = rows.updated(key, row.copy(feeds = row.feeds + 1))
    held += 1
    settled += attempt.feed.expectedMillis.millis

  def snapshot(): FeedCounts.Snapshot = synchronized:
    val total = rows.values.foldLeft(FeedCounts.Row(0, 0, 0)): (sum, row) =>
      FeedCounts.Row(sum.feeds + row.feeds, sum.found + row.found, sum.fresh + row.fresh)
    val ordered = rows.toVector.sortBy((key, _) => (key._1.ordinal, key._2))
    FeedCounts.Snapshot(
      due = (dueAtFirst - elsewhere).max(fetched + failed + held),
      elsewhere = elsewhere,
      fetched = fetched,
      failed = failed,
      held = held,
      inFlight = inFlight,
      doneShare = if expected > Duration.Zero then settled / expected else 1.0,
      rows = ordered.map((key, row) => (key._2, row)),
      total = total,
      changed = changed,
      turned = turned,
      failures = failures,
      work = work
    )

object FeedCounts:
  /** One line of the table: feeds that ended alike, items in them, and how many of those were new.
    */
  final case class Row(feeds: Long, found: Long, fresh: Long)

  /** The time that servers and back-off took, summed over all tries of all feeds that are done. */
  final case class Work(
      retries: Long,
      service: FiniteDuration,
      waited: FiniteDuration,
      longestChain: FiniteDuration
  ):
    def oneByOne: FiniteDuration = service + waited

  /** @param due
    *   the number of due feeds, without those that other processes have checked
    * @param elsewhere
    *   the number of feeds that other processes have checked
    * @param held
    *   the number of feeds that were not fetched because their host wants a pause
    * @param doneShare
    *   the share of the expected work that is done, from 0 to 1
    * @param changed
    *   the number of items whose content has changed
    * @param turned
    *   the number of feeds that failed after a success, or succeeded after a failure
    * @param failures
    *   the first 1,000 feeds that failed
    */
  final case class Snapshot(
      due: Long,
      elsewhere: Long,
      fetched: Long,
      failed: Long,
      held: Long,
      inFlight: Int,
      doneShare: Double,
      rows: Vector[(String, Row)],
      total: Row,
      changed: Long,
      turned: Long,
      failures: Vector[Failed],
      work: Work
  ):
    def done: Long = fetched + failed
    def left: Long = due - done

    /** Returns true if anything has changed since the run before. */
    def hasNews: Boolean = total.fresh > 0 || changed > 0 || turned > 0

    def mostFailed: Boolean = failed > fetched

  /** A feed that failed, and why. */
  final case class Failed(url: String, why: String)

  private val mostFailures = 1_000
