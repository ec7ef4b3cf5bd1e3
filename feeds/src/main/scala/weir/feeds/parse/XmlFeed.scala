package weir.feeds.parse

import java.time.Instant

import weir.feeds.store.Item

/** A feed in XML of any format: RSS of all versions and Atom, and CDF.
  *
  * Its entries are all `item` and `entry` elements, wherever they are: beside the channel in RSS
  * 1.0, in a list of their own in RSS 1.1, within each other if none of them ends.
  */
private[parse] final case class XmlFeed(head: FeedHead, items: Vector[Item], isTruncated: Boolean)

private[parse] object XmlFeed:
  /** Returns the feed in `document`, wherever in it; none if there is none. */
  def in(document: Node, now: Instant): Option[XmlFeed] =
    rootIn(document).flatMap: root =>
      val all = entriesIn(root)
      val isTruncated = !root.isWhole
      val entries = if isTruncated && all.lastOption.exists(!_.isWhole) then all.init else all
      val channel = channelOf(root)
      val authors = if Node.isEntry(channel.name) then Vector.empty else EntryParts.authors(channel)
      Option.when(root.name != "rss" || channel.name == "channel" || all.nonEmpty)(
        XmlFeed(
          head = FeedHead.read(root, channel),
          items = entries.map(EntryReader.read(_, authors, now)),
          isTruncated = isTruncated
        )
      )

  /** Returns the name of the outermost element of `document`, for messages. */
  def rootName(document: Node): Option[String] = document.children.nextOption().map(_.name)

  private val roots = Set("rss", "feed", "channel", "rdf:rdf", "rdf", "entry")

  private def rootIn(document: Node): Option[Node] =
    document.descendants(_ => false).find(node => roots(node.name))

  private def channelOf(root: Node): Node = root.named("channel").nextOption().getOrElse(root)

  /** All entries. Elements inside a field, such as a text, are not entries, unless there are no
    * others: a field that is not closed contains everything that follows.
    */
  private def entriesIn(root: Node): Vector[Node] =
    def outside(isLeaf: Node => Boolean) =
      root.descendants(isLeaf).filter(node => Node.isEntry(node.name)).toVector
    val usual = outside(node => fields(node.name))
    if usual.nonEmpty then usual else outside(_ => false)

  private val fields = Set(
    "title",
    "link",
    "guid",
    "id",
    "description",
    "summary",
    "abstract",
    "content",
    "content:encoded",
    "xhtml:body",
    "xhtml:div",
    "source",
    "author",
    "category",
    "comments",
    "pubdate",
    "published",
    "updated",
    "dc:date",
    "dc:title",
    "dc:description"
  )
