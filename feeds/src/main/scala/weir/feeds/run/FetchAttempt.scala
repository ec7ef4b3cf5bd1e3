package weir.feeds.run

import scala.concurrent.duration.*
import scala.util.hashing.byteswap64

import weir.feeds.store.DueFeed

/** A feed that a run fetches, with the time that its tries have taken so far.
  *
  * @param tries
  *   the number of tries that have ended
  * @param service
  *   the time that the server took for them
  * @param waited
  *   the back-off between them
  * @param isTaken
  *   true if the feed is leased to this process, with a permit of its host, and only waits for the
  *   pause between two requests
  */
final case class FetchAttempt(
    feed: DueFeed,
    tries: Int = 0,
    service: FiniteDuration = Duration.Zero,
    waited: FiniteDuration = Duration.Zero,
    isTaken: Boolean = false
):
  /** Returns the time from the first request to the last answer. No run can end this feed sooner.
    */
  def chain: FiniteDuration = service + waited

  /** Returns the priority of this feed among those of its host: the highest goes first.
    *
    * A feed that is expected to take longer has a higher priority, so that no long fetch begins
    * when all else is done. Feeds whose times have the same power of two are shuffled by `seed`,
    * which differs between processes: so processes that share the feeds do not ask for the same one
    * at the same time.
    */
  def priority(seed: Long): Long =
    val magnitude = 64L - java.lang.Long.numberOfLeadingZeros(feed.expectedMillis)
    (magnitude << FetchAttempt.shuffledBits) | (byteswap64(
      feed.id ^ seed
    ) >>> (64 - FetchAttempt.shuffledBits))

  def afterTry(took: FiniteDuration): FetchAttempt =
    copy(tries = tries + 1, service = service + took)

  def afterWait(wait: FiniteDuration): FetchAttempt = copy(waited = waited + wait)

object FetchAttempt:
  private inline val shuffledBits = 56
