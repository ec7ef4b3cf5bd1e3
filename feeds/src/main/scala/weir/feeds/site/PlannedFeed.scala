package weir.feeds.site

import scala.concurrent.duration.*

import weir.feeds.fetch.Backoff

/** One feed of the local site, as its plan has it.
  *
  * @param latencyMillis
  *   the time that the server waits before it answers a request for it. If there are redirects on
  *   the way, each hop takes its part of that time
  * @param errors
  *   the number of requests that are refused before one is answered, if it recovers at all
  */
final case class PlannedFeed(
    id: Int,
    kind: Kind,
    isAtom: Boolean,
    isGzipped: Boolean,
    hasValidators: Boolean,
    latencyMillis: Long,
    errors: Int,
    items: Int
):
  /** Returns the path that is handed out, and so the one in the database. */
  def path: String = s"/feeds/$id.xml"

  /** Returns the number of requests that it takes to get to the end of one try. */
  def hops: Int =
    kind match
      case Kind.MovedForNow | Kind.MovedForGood => 2
      case Kind.RedirectLoop => 3
      case _ => 1

  def hopMillis: Long = latencyMillis / hops

  /** Returns the expected time of a check, including back-off. */
  def expected(timeout: FiniteDuration, retries: Int, base: FiniteDuration): FiniteDuration =
    val once = latencyMillis.millis min timeout
    kind match
      case Kind.Trickle => timeout
      case Kind.ServerError | Kind.Reset => chain(once, retries, base)
      case Kind.RecoversFromServerError | Kind.RecoversFromReset =>
        chain(once, errors min retries, base)
      case Kind.Busy => once * 2 + PlannedFeed.retryAfter + base / 2
      case _ => once

  private def chain(once: FiniteDuration, again: Int, base: FiniteDuration): FiniteDuration =
    val waits = (0 until again).map(step => (base * (1L << step) / 2) min Backoff.longestWait)
    waits.foldLeft(once * (again + 1L))(_ + _)

object PlannedFeed:
  /** The pause that a busy feed asks for. */
  val retryAfter: FiniteDuration = 1.second
