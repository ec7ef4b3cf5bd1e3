package weir.cli.feeds.store

import weir.cli.feeds.input.FeedUrl

/** A feed that is to be checked, with what the last check left. */
final case class DueFeed(
    id: Long,
    url: FeedUrl,
    etag: Option[String],
    lastModified: Option[String],
    failures: Int,
    ttlMillis: Long,
    expectedMillis: Long
)
