package weir.feeds.fetch

import java.util.SplittableRandom
import scala.concurrent.duration.*

/** Computes the wait before a failed fetch is tried again.
  *
  * Exponential with full jitter: a wait is drawn evenly from zero to a ceiling that doubles with
  * each try, so that feeds that failed together do not come back together. After the AWS article on
  * back-off and jitter; differs in that a draw depends on the seed, the feed and the try alone, so
  * a run can be repeated.
  */
final case class Backoff(retries: Int, base: FiniteDuration, seed: Long):
  /** Returns the wait before the next try of `feedId` after `tries` tries; none for no further try.
    */
  def waitFor(feedId: Long, tries: Int, failure: Failure): Option[FiniteDuration] =
    val isOver = tries > retries || !failure.reason.mayRecover
    failure.retryAfter match
      case _ if isOver => None
      case Some(asked) if asked > Backoff.longestWait => None
      case Some(asked) => Some(asked + jitter(feedId, tries, base))
      case None =>
        val ceiling = (base * (1L << (tries - 1).min(20))) min Backoff.longestWait
        Some(jitter(feedId, tries, ceiling))

  private def jitter(feedId: Long, tries: Int, ceiling: FiniteDuration): FiniteDuration =
    val random = SplittableRandom(seed ^ (feedId * 0x9e3779b97f4a7c15L + tries))
    random.nextLong(ceiling.toMillis + 1).millis

object Backoff:
  /** A run does not wait longer than this for one feed; the feed is left for a later run instead.
    */
  val longestWait: FiniteDuration = 10.seconds

  /** The ceiling of the first wait. */
  val base: FiniteDuration = 500.millis
