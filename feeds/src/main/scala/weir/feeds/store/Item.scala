package weir.feeds.store

/** One entry of a feed.
  *
  * @param guid
  *   the name that the feed gives it; see [[ItemName]]. Several entries of one feed may have the
  *   same name, see [[ItemMatches]]
  * @param url
  *   an absolute address
  * @param title
  *   plain text
  * @param publishedAt
  *   milliseconds since 1970; none if the feed gives no date, or none that can be true
  * @param summary
  *   HTML as the feed has it. Never show it unsanitized
  * @param content
  *   the full text as HTML, if the feed has one beside the summary or in its place
  * @param authors
  *   their names, or mail addresses if they have no name
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
  *   its playing time
  */
final case class Enclosure(
    url: String,
    kind: Option[String],
    length: Option[Long],
    seconds: Option[Long]
)
