package weir.feeds.parse

import java.time.Instant

import weir.feeds.store.{Item, ItemName}

/** Reads an entry of any format: each field from the first of its names that has it. */
private[parse] object EntryReader:
  /** Returns the item that `node`, an `item` or `entry`, describes.
    *
    * @param authors
    *   the authors of the feed, for an Atom entry without authors of its own
    */
  def read(node: Node, authors: Vector[String], now: Instant): Item =
    val guid = first(node, guids)(child => trimmed(child.text)).orElse(node.attribute("rdf:about"))
    val url = link(node)
    val title = first(node, titles)(Markup.plain).map(Clean.text)
    val content = first(node, contents)(Markup.html).map(Clean.text)
    val summary = first(node, summaries)(Markup.html)
      .orElse(if content.isEmpty then mediaDescription(node) else None)
      .map(Clean.text)
    Item(
      guid = ItemName.of(guid.map(Clean.text), url.map(Clean.text), title, summary.orElse(content)),
      url = url.map(Clean.text),
      title = title,
      publishedAt = date(node, now).map(_.toEpochMilli),
      summary = summary,
      content = content,
      authors = Some(EntryParts.authors(node)).filter(_.nonEmpty).getOrElse(authors),
      categories = EntryParts.categories(node),
      enclosures = EntryParts.enclosures(node)
    )

  /** Returns the page that `node`, an entry or a feed, is about. */
  def page(node: Node): Option[String] = written(node).orElse(linked(node, "alternate"))

  private val guids = List("guid", "id")
  private val titles = List("title", "dc:title", "media:title", "itunes:title")
  private val summaries =
    List("description", "summary", "abstract", "dc:description", "itunes:summary")
  private val contents =
    List("content:encoded", "content", "xhtml:body", "xhtml:div", "body", "fullitem")
  private val dates = List(
    "pubdate",
    "published",
    "issued",
    "created",
    "dc:date",
    "dcterms:issued",
    "dcterms:created",
    "date",
    "updated",
    "modified",
    "dcterms:modified",
    "lastbuilddate"
  )

  /** Returns the value of the first child that has one, by the order of `names`. */
  private def first[A](node: Node, names: List[String])(read: Node => Option[A]): Option[A] =
    names.iterator.flatMap(node.named).flatMap(read).nextOption()

  private def date(node: Node, now: Instant): Option[Instant] =
    first(node, dates)(child => FeedDate.parse(child.text, now))
      .orElse(node.attribute("lastmod").flatMap(FeedDate.parse(_, now)))

  /** Returns the page of the entry; for an entry without one, such as a podcast's, the file that it
    * is about.
    */
  private def link(node: Node): Option[String] =
    page(node)
      .orElse(permanentGuid(node))
      .orElse(node.attribute("href").flatMap(Link.resolve(node.base, _)))
      .orElse(EntryParts.enclosures(node).headOption.map(_.url))

  /** RSS: the text of `link`. */
  private def written(node: Node): Option[String] =
    first(node, List("link")): child =>
      Option
        .when(!child.attributes.contains("href"))(child.text)
        .flatMap(Link.resolve(child.base, _))

  /** Atom: the `href` of the link that is `relation` to the entry, a page before anything else. */
  private def linked(node: Node, relation: String): Option[String] =
    val all = node
      .named("link")
      .filter(_.attribute("rel").map(Node.lower).getOrElse("alternate") == relation)
      .flatMap: child =>
        child.attribute("href").flatMap(Link.resolve(child.base, _)).map(child -> _)
      .toVector
    all
      .find((child, _) => child.attribute("type").forall(_.contains("html")))
      .orElse(all.headOption)
      .map(_(1))

  /** A guid is a link unless it says no; but many say nothing and are none. */
  private def permanentGuid(node: Node): Option[String] =
    first(node, guids): child =>
      child.attribute("ispermalink").map(Node.lower) match
        case Some("true") => Link.resolve(child.base, child.text)
        case None => trimmed(child.text).filter(isAddress)
        case _ => None

  /** Video sites describe an entry only here, sometimes within a group. */
  private def mediaDescription(node: Node): Option[String] =
    (node.named("media:group") ++ Iterator(node))
      .flatMap(_.named("media:description"))
      .flatMap(Markup.html)
      .nextOption()

  private def isAddress(text: String): Boolean =
    Node.lower(text).startsWith("http://") || Node.lower(text).startsWith("https://")

  private def trimmed(text: String): Option[String] = Some(text.trim).filter(_.nonEmpty)
