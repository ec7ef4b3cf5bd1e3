package weir.cli.feeds.store

/** One entry of a feed. `guid` tells the entries of one feed apart. */
final case class Item(
    guid: String,
    url: Option[String],
    title: Option[String],
    publishedAt: Option[Long],
    summary: Option[String]
)
