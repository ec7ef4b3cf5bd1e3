package weir.feeds.fetch

import scala.concurrent.duration.FiniteDuration

import weir.feeds.input.FeedUrl

/** The result of one exchange with a server, including redirects. */
enum Answer:
  /** A body, decompressed.
    *
    * @param content
    *   to be closed by the receiver
    * @param url
    *   the address that the body came from: the last one on the way
    * @param charset
    *   the charset that `Content-Type` names
    * @param freshFor
    *   the time for which the server says that nothing will change, at most a day; none if it does
    *   not say
    * @param movedTo
    *   the new address of the feed, if every redirect on the way was permanent
    * @param trusted
    *   the addresses on the way that may be private, as those that the user gave
    */
  case Document(
      content: Content,
      url: FeedUrl,
      charset: Option[String],
      etag: Option[String],
      lastModified: Option[String],
      freshFor: Option[FiniteDuration],
      movedTo: Option[FeedUrl],
      trusted: Set[FeedUrl] = Set.empty
  )

  /** Nothing new since the validators that were sent. `etag` and `lastModified` replace them if the
    * server gives new ones; `freshFor` is as for a document.
    */
  case NotModified(
      freshFor: Option[FiniteDuration],
      etag: Option[String] = None,
      lastModified: Option[String] = None
  )

  case Failed(failure: Failure)

object Answer:
  extension (document: Document)
    /** Returns the address that it came from, as the place that names further addresses. */
    private[fetch] def hop: AddressGuard.Hop =
      AddressGuard.Hop(document.url, mayBePrivate = document.trusted(document.url))
