package weir.cli.feeds.fetch

import weir.cli.feeds.input.FeedUrl

/** What one exchange with a server (with its redirects) came to. */
enum Answer:
  /** A body, decompressed.
    *
    * @param charset
    *   what the `Content-Type` names
    * @param movedTo
    *   where the feed lives now, if every redirect on the way was permanent
    */
  case Document(
      bytes: Array[Byte],
      charset: Option[String],
      etag: Option[String],
      lastModified: Option[String],
      movedTo: Option[FeedUrl]
  )

  /** Nothing new since the validators that were sent. */
  case NotModified

  case Failed(failure: Failure)
