package weir.cli.feeds.run

import weir.cli.feeds.fetch.{Answer, Failure, Reason}
import weir.cli.feeds.input.FeedUrl
import weir.cli.feeds.parse.ParsedFeed
import weir.cli.feeds.store.Check

/** What an answer means for the feed. */
private[run] final case class Verdict(
    reason: Reason,
    failure: Option[Failure],
    movedTo: Option[FeedUrl],
    found: Option[Check.Found]
)

private[run] object Verdict:
  /** A new address is believed only if what lives there is a feed. */
  def of(answer: Answer): Verdict =
    answer match
      case Answer.Failed(failure) => failed(failure)
      case Answer.NotModified => Verdict(Reason.NotModified, None, None, None)
      case document: Answer.Document =>
        ParsedFeed.parse(document.bytes, document.charset) match
          case Left(failure) => failed(failure)
          case Right(feed) =>
            val found = Check.Found(feed.title, document.etag, document.lastModified, feed.items)
            Verdict(feed.reason, None, document.movedTo, Some(found))

  private def failed(failure: Failure) = Verdict(failure.reason, Some(failure), None, None)
