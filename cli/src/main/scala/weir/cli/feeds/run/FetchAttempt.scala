package weir.cli.feeds.run

import scala.concurrent.duration.*
import scala.util.hashing.byteswap64

import weir.cli.feeds.store.DueFeed

/** A feed that a run is fetching, with the time that its tries have taken so far.
  *
  * @param tries
  *   how many have ended
  * @param service
  *   how long the server took over them
  * @param waited
  *   the back-off between them
  * @param isTaken
  *   whether the feed is leased to this process, with a turn of its host, and only waits for the
  *   pause between two requests
  */
final case class FetchAttempt(
    feed: DueFeed,
    tries: Int = 0,
    service: FiniteDuration = Duration.Zero,
    waited: FiniteDuration = Duration.Zero,
    isTaken: Boolean = false
):
  /** From the first request to the last answer: no run can end this feed sooner. */
  def chain: FiniteDuration = service + waited

  /** Higher for the feeds of a host that go first: those expected to take longest, so that no long
    * one begins when all else is done. Those that differ by less than twice are shuffled by `seed`,
    * which is another one in each process: so processes that share the feeds do not ask for the
    * same one at the same time.
    */
  def priority(seed: Long): Long =
    val magnitude = 64L - java.lang.Long.numberOfLeadingZeros(feed.expectedMillis)
    (magnitude << FetchAttempt.shuffledBits) | (byteswap64(feed.id ^ seed) >>> (64 - FetchAttempt.shuffledBits))

  def afterTry(took: FiniteDuration): FetchAttempt = copy(tries = tries + 1, service = service + took)

  def afterWait(wait: FiniteDuration): FetchAttempt = copy(waited = waited + wait)

object FetchAttempt:
  private inline val shuffledBits = 56
