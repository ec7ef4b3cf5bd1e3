package weir.feeds.run

import scala.concurrent.duration.*

/** The time below which no program can fetch these feeds, with which a run is compared. No order of
  * fetching can shorten two things: the longest chain of tries and back-off of a single feed, and
  * all answers together, of which only `places` can be in flight at once. Sending, parsing and
  * storing count as nothing.
  */
final case class Bound(longestChain: FiniteDuration, service: FiniteDuration, places: Int):
  def perPlace: FiniteDuration = (service / places.toDouble).toMillis.millis

  def time: FiniteDuration = longestChain max perPlace

  /** Returns `taken` as a multiple of the bound. */
  def ratio(taken: FiniteDuration): Double = taken / (time max 1.milli)

object Bound:
  def of(work: FeedCounts.Work, places: Int): Bound = Bound(work.longestChain, work.service, places)
