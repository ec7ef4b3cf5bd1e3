package weir.cli.feeds.store

/** One entry of a feed.
  *
  * @param guid
  *   what the feed names it by; see [[ItemName]]. Several entries of one feed may have the same,
  *   see [[NewItems]]
  * @param url
  *   an absolute address
  * @param title
  *   plain text
  * @param publishedAt
  *   milliseconds since 1970; none if the feed gives no date, or none that can be true
  * @param summary
  *   HTML as the feed has it: never to be shown unsanitized
  * @param content
  *   the full text as HTML, where the feed has more of it than the summary
  */
final case class Item(
    guid: String,
    url: Option[String],
    title: Option[String],
    publishedAt: Option[Long],
    summary: Option[String],
    content: Option[String] = None
)
