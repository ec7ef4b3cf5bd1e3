package weir.feeds.parse

import java.time.Instant
import scala.util.control.NonFatal

import weir.feeds.encoding.DecodedText
import weir.feeds.fetch.{Failure, Reason}
import weir.feeds.input.FeedUrl
import weir.feeds.store.Item

/** A parsed document.
  *
  * The content of a document decides its kind, not the type that the server names: JSON, XML, or a
  * page of HTML. XML is read strictly. If it is not well-formed, it is read leniently.
  */
enum ParsedFeed:
  /** A feed.
    *
    * @param reason
    *   that all was well, or what had to be put up with
    * @param note
    *   more about the reason
    */
  case Feed(
      head: FeedHead,
      items: Vector[Item],
      reason: Reason,
      note: Option[String] = None
  )

  /** A page of HTML that names a feed: the first one, if it names several. */
  case Page(feed: FeedUrl)

object ParsedFeed:
  /** Parses the bytes of a document.
    *
    * @param charset
    *   the charset that the server named
    * @param url
    *   the address of the document; relative links are resolved against it
    */
  def parse(
      bytes: Array[Byte],
      charset: Option[String],
      url: FeedUrl
  ): Either[Failure, ParsedFeed] =
    // An error of a parser is a failure of the document, and never of the run.
    try
      DecodedText
        .of(bytes, charset)
        .left
        .map(Failure(Reason.WrongEncoding, _))
        .flatMap(read(_, url.text, Instant.now()))
    catch
      case error @ (NonFatal(_) | _: StackOverflowError | _: OutOfMemoryError) =>
        Left(
          Failure(Reason.Unreadable, error.toString.take(longestDetail).linesIterator.mkString(" "))
        )

  /** A parser may put the whole document into its message. */
  private val longestDetail = 300

  private def read(decoded: DecodedText, base: String, now: Instant): Either[Failure, ParsedFeed] =
    val text = decoded.text
    val usual = if decoded.wasWronglyNamed then Reason.EncodingRecovered else Reason.Fetched
    if text.isBlank then Left(Failure(Reason.Malformed, "it is empty"))
    else if JsonFeed.isJson(text) then
      JsonFeed
        .parse(text, base, now)
        .fold(
          problem => Left(Failure(Reason.NotAFeed, problem.take(longestDetail))),
          feed => Right(Feed(feed.head, feed.items, usual))
        )
    else
      StrictXml.parse(text, base) match
        case Right(xml) =>
          val reason = if xml.hasLeftOut then Reason.EntityLeftOut else usual
          XmlFeed.in(xml.document, now) match
            case Some(feed) => Right(Feed(feed.head, feed.items, reason))
            case None => page(text, base, noFeed(xml.document))
        case Left(failure) if failure.reason == Reason.EntityBomb => Left(failure)
        case Left(failure) =>
          XmlFeed.in(LenientXml.parse(text, base), now) match
            case Some(feed) if !WebPage.isPage(text) =>
              val reason = if feed.isTruncated then Reason.Truncated else Reason.Recovered
              Right(Feed(feed.head, feed.items, reason, Some(failure.detail)))
            case _ => page(text, base, failure)

  private def noFeed(document: Node): Failure =
    Failure(
      Reason.NotAFeed,
      s"the root element is <${XmlFeed.rootName(document).getOrElse("")}>, and there is no feed " +
        "in it"
    )

  private def page(text: String, base: String, otherwise: Failure): Either[Failure, ParsedFeed] =
    if !WebPage.isPage(text) then Left(otherwise)
    else
      WebPage
        .feed(text, base)
        .map(Page(_))
        .toRight(Failure(Reason.NotAFeed, "it is a page of HTML that names no feed"))
