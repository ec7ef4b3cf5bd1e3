package weir.feeds.run

import scala.concurrent.duration.*

import weir.feeds.fetch.{Answer, Reason}
import weir.feeds.input.FeedUrl
import weir.feeds.site.LocalSite

/** Measures the time that a server takes for a try. The bound is computed from these times. */
trait Meter:
  /** Begins to measure a try of `url`. Returns a function to call at its end, which returns the
    * time.
    */
  def begin(url: FeedUrl): Answer => FiniteDuration

object Meter:
  /** By the clock: what can be known of a server elsewhere. It counts our own delays as well. */
  val clock: Meter = _ =>
    val start = System.nanoTime()
    _ => ((System.nanoTime() - start) / 1_000_000).millis

  /** Uses the planned times of the local site's answers, not the measured ones. So a program that
    * is slow to ask or to read does not raise its own bound.
    */
  def planned(site: LocalSite, timeout: FiniteDuration): Meter = url =>
    val before = site.plannedMillis(url)
    {
      case Answer.Failed(failure) if failure.reason == Reason.TimedOut => timeout
      case _ => (site.plannedMillis(url) - before).millis min timeout
    }
