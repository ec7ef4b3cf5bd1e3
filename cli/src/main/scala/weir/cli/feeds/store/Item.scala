package weir.cli.feeds.store

/** One entry of a feed.
  *
  * @param guid
  *   what the feed names it by; see [[ItemName]]. Several entries of one feed may have the same,
  *   see [[ItemMatches]]
  * @param url
  *   an absolute address
  * @param title
  *   plain text
  * @param publishedAt
  *   milliseconds since 1970; none if the feed gives no date, or none that can be true
  * @param summary
  *   HTML as the feed has it: never to be shown unsanitized
  * @param content
  *   the full text as HTML, where the feed has one beside the summary or in its place
  * @param authors
  *   their names, or addresses of mail for want of one
  */
final case class Item(
    guid: String,
    url: Option[String],
    title: Option[String],
    publishedAt: Option[Long],
    summary: Option[String],
    content: Option[String] = None,
    authors: Vector[String] = Vector.empty,
    categories: Vector[String] = Vector.empty,
    enclosures: Vector[Enclosure] = Vector.empty
)

/** A file that belongs to an entry, such as the sound of a podcast.
  *
  * @param kind
  *   its media type, as the feed has it
  * @param length
  *   in bytes
  * @param seconds
  *   how long it plays
  */
final case class Enclosure(
    url: String,
    kind: Option[String],
    length: Option[Long],
    seconds: Option[Long]
)
