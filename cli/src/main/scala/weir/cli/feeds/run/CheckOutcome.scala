package weir.cli.feeds.run

import scala.concurrent.duration.*

import weir.cli.feeds.fetch.{Answer, Failure, Reason}
import weir.cli.feeds.input.FeedUrl
import weir.cli.feeds.parse.ParsedFeed
import weir.cli.feeds.store.{Check, DueFeed}

/** What an answer means for the feed. */
private[run] enum CheckOutcome:
  /** The check ends so.
    *
    * @param detail
    *   more about the reason, to be stored
    * @param holdOff
    *   how long to leave the feed alone, if it did not fail
    */
  case End(
      reason: Reason,
      detail: Option[String],
      failure: Option[Failure],
      holdOff: FiniteDuration,
      movedTo: Option[FeedUrl],
      livesAt: Option[FeedUrl],
      found: Option[Check.Found],
      renewed: Option[Check.Validators] = None
  )

  /** There is a page, and the feed that it names is to be fetched in its place.
    *
    * @param isBelieved
    *   whether the way to the page may be remembered
    */
  case Elsewhere(page: FeedUrl, feed: FeedUrl, isBelieved: Boolean)

private[run] object CheckOutcome:
  /** A new address is believed only if what lives there is a feed. */
  def of(feed: DueFeed, answer: Answer): CheckOutcome =
    answer match
      case Answer.Failed(failure) => failed(failure)
      case Answer.NotModified(freshFor, etag, lastModified) =>
        val holdOff = HoldOff.fresh(freshFor ++ Some(feed.ttlMillis.millis))
        val renewed = Check.Validators(etag, lastModified)
        End(Reason.NotModified, None, None, holdOff, None, None, None, Some(renewed))
      case document: Answer.Document =>
        ParsedFeed.parse(document.bytes, document.charset, document.url) match
          case Left(failure) => failed(failure)
          case Right(ParsedFeed.Page(named)) =>
            Elsewhere(document.url, named, isBelieved(feed, document))
          case Right(ParsedFeed.Feed(title, items, ttl, reason, note)) =>
            // What was cut off is asked for again, and not taken for known.
            val isWhole = reason != Reason.Truncated
            val found = Check.Found(
              title = title,
              etag = document.etag.filter(_ => isWhole),
              lastModified = document.lastModified.filter(_ => isWhole),
              ttlMillis = ttl.fold(0L)(_.toMillis),
              items = items
            )
            val holdOff = HoldOff.fresh(document.freshFor ++ ttl)
            End(reason, note, None, holdOff, document.movedTo, None, Some(found))

  /** What `answer`, that of the feed that `page` names, means for the feed that was to be found at
    * `page`. A page behind a page is not followed.
    */
  def behind(page: Elsewhere, feed: DueFeed, answer: Answer): End =
    val said = s"${page.page.text} is a page; it names ${page.feed.text}"
    of(feed, answer) match
      case _: Elsewhere => failed(Failure(Reason.NotAFeed, s"$said, which is a page again"))
      case end: End if end.reason.isFailure =>
        // That the page's feed is gone does not mean that the page is.
        val reason = if end.reason == Reason.Gone then Reason.NotFound else end.reason
        failed(Failure(reason, s"$said: ${end.detail.getOrElse("")}"))
      case end: End =>
        end.copy(
          reason = Reason.FoundOnPage,
          detail = Some(said),
          movedTo = None,
          livesAt = end.movedTo
            .orElse(Some(page.feed))
            .filter(address => page.isBelieved && (address.isHttps || !page.page.isHttps)),
          // The validators are the feed's, and would be sent to the page.
          found = end.found.map(_.copy(etag = None, lastModified = None)),
          renewed = None
        )

  /** There was no redirect, or one that the server means for good. */
  private def isBelieved(feed: DueFeed, document: Answer.Document): Boolean =
    document.url == feed.url || document.movedTo.nonEmpty

  def failed(failure: Failure): End =
    End(failure.reason, Some(failure.detail), Some(failure), Duration.Zero, None, None, None)
