package weir.cli.feeds.run

import scala.concurrent.duration.*

import weir.cli.feeds.fetch.{Answer, Reason}
import weir.cli.feeds.input.FeedUrl
import weir.cli.feeds.site.LocalSite

/** Says how long a server took over a try, which is what the bound is computed from. */
trait Meter:
  /** Begins to measure a try of `url`; what comes back says, at its end, how long it took. */
  def begin(url: FeedUrl): Answer => FiniteDuration

object Meter:
  /** By the clock: what can be known of a server elsewhere. It counts our own delays as well. */
  val clock: Meter = _ =>
    val start = System.nanoTime()
    _ => ((System.nanoTime() - start) / 1_000_000).millis

  /** By the plan of the local site: what its answers should have taken, and not what they did, so
    * that a program that is slow to ask or to read does not raise its own bound.
    */
  def planned(site: LocalSite, timeout: FiniteDuration): Meter = url =>
    val before = site.plannedMillis(url)
    {
      case Answer.Failed(failure) if failure.reason == Reason.TimedOut => timeout
      case _ => (site.plannedMillis(url) - before).millis min timeout
    }
