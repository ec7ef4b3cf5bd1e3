package weir.feeds.run

import scala.concurrent.duration.*

import weir.feeds.fetch.{Answer, Failure, Reason}
import weir.feeds.input.FeedUrl
import weir.feeds.parse.ParsedFeed
import weir.feeds.store.{Check, DueFeed}

/** The outcome of a check: the meaning of an answer for the feed. */
private[run] enum CheckOutcome:
  /** The end of the check.
    *
    * @param detail
    *   more about the reason, to be stored
    * @param holdOff
    *   the time for which not to fetch the feed, if it did not fail
    * @param host
    *   the host from which the document came
    * @param trusted
    *   as that of [[Answer.Document]]
    */
  case End(
      reason: Reason,
      detail: Option[String],
      failure: Option[Failure],
      holdOff: FiniteDuration,
      movedTo: Option[FeedUrl],
      livesAt: Option[FeedUrl],
      found: Option[Check.Found],
      renewed: Option[Check.Validators] = None,
      host: Option[String] = None,
      trusted: Set[FeedUrl] = Set.empty
  )

  /** The answer is a page. The feed that it names must be fetched in its place.
    *
    * @param isBelieved
    *   true if the way to the page may be remembered
    */
  case Elsewhere(page: FeedUrl, feed: FeedUrl, isBelieved: Boolean)

  /** The answer is a feed that says that it has moved to `feed`. That address must be fetched in
    * its place. If it is no feed, the check ends as `here`.
    */
  case Announced(here: End, from: FeedUrl, feed: FeedUrl)

private[run] object CheckOutcome:
  /** Returns the outcome of `answer`. A new address is believed only if what lives there is a feed.
    */
  def of(feed: DueFeed, answer: Answer): CheckOutcome =
    answer match
      case Answer.Failed(failure) => failed(failure)
      case Answer.NotModified(freshFor, etag, lastModified) =>
        val holdOff = HoldOff.fresh(freshFor ++ Some(feed.ttlMillis.millis))
        val renewed = Check.Validators(etag, lastModified)
        End(Reason.NotModified, None, None, holdOff, None, None, None, Some(renewed))
      case document: Answer.Document =>
        ParsedFeed.parse(document.content.bytes, document.charset, document.url) match
          case Left(failure) => failed(failure)
          case Right(ParsedFeed.Page(named)) =>
            Elsewhere(document.url, named, isBelieved(feed, document))
          case Right(parsed: ParsedFeed.Feed) =>
            val end = read(document, parsed)
            newAddress(feed, document, parsed) match
              case Some(url) => Announced(end, document.url, url)
              case None => end

  private def read(document: Answer.Document, parsed: ParsedFeed.Feed): End =
    // Cut off documents are asked for again, and do not count as known.
    val isWhole = parsed.reason != Reason.Truncated
    val head = parsed.head
    val found = Check.Found(
      about = head.about,
      etag = document.etag.filter(_ => isWhole),
      lastModified = document.lastModified.filter(_ => isWhole),
      ttlMillis = head.ttl.fold(0L)(_.toMillis),
      items = parsed.items,
      skips = head.skips
    )
    val holdOff = HoldOff.fresh(document.freshFor ++ head.ttl)
    End(
      parsed.reason,
      parsed.note,
      None,
      holdOff,
      document.movedTo,
      None,
      Some(found),
      host = Some(document.url.host),
      trusted = document.trusted
    )

  /** Returns the address at which the feed says that it is, if it is another one, which may be
    * believed.
    */
  private def newAddress(
      feed: DueFeed,
      document: Answer.Document,
      parsed: ParsedFeed.Feed
  ): Option[FeedUrl] =
    parsed.head.newUrl
      .flatMap(document.url.resolve(_).toOption)
      .filter(url => url != document.url && url != feed.url)
      .filter(url => url.isHttps || !document.url.isHttps)
      .filter(_ => isBelieved(feed, document))

  /** Returns the outcome for the feed at `page`, from the answer of the feed that the page names. A
    * page behind a page is not followed.
    */
  def behind(page: Elsewhere, feed: DueFeed, answer: Answer): End =
    val said = s"${page.page.text} is a page; it names ${page.feed.text}"
    of(feed, answer) match
      case _: Elsewhere => failed(Failure(Reason.NotAFeed, s"$said, which is a page again"))
      // It is taken from the page first, and followed by the next check.
      case announced: Announced => foundOn(page, announced.here, said)
      case end: End if end.reason == Reason.HostHeld => end
      case end: End if end.reason.isFailure =>
        // That the page's feed is gone does not mean that the page is.
        val reason = if end.reason == Reason.Gone then Reason.NotFound else end.reason
        failed(Failure(reason, s"$said: ${end.detail.getOrElse("")}"))
      case end: End => foundOn(page, end, said)

  private def foundOn(page: Elsewhere, end: End, said: String): End =
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

  /** Returns the outcome of `answer`, the answer of the address that the feed has announced. An
    * answer that sends the feed back to its old address is not believed.
    */
  def at(announced: Announced, named: DueFeed, answer: Answer): End =
    def moved(end: End) = end.copy(movedTo = end.movedTo.orElse(Some(announced.feed)))
    of(named, answer) match
      case end: End if end.found.nonEmpty => moved(end)
      case further: Announced if further.feed != announced.from => moved(further.here)
      case _ =>
        val said = s"it says that it has moved to ${announced.feed.text}, where no feed was found"
        announced.here.copy(detail = Some((announced.here.detail.toVector :+ said).mkString("; ")))

  /** Returns true if there was no redirect, or a permanent one. */
  private def isBelieved(feed: DueFeed, document: Answer.Document): Boolean =
    document.url == feed.url || document.movedTo.nonEmpty

  def failed(failure: Failure): End =
    End(failure.reason, Some(failure.detail), Some(failure), Duration.Zero, None, None, None)
