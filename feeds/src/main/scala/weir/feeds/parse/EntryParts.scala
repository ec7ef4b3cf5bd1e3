package weir.feeds.parse

import weir.feeds.store.Enclosure

/** Reads the parts of an entry that are lists: authors, categories and files. */
private[parse] object EntryParts:
  /** Returns the names of the authors of `node`, an entry or a feed. A mail address is used as a
    * name only if there is no name.
    */
  def authors(node: Node): Vector[String] =
    val named = List("author", "dc:creator").flatMap(node.named).flatMap(author)
    val all = if named.nonEmpty then named else node.named("itunes:author").flatMap(author).toList
    val (mails, names) = all.distinct.partition(isMail)
    (if names.nonEmpty then names else mails).toVector

  def categories(node: Node): Vector[String] =
    List("category", "dc:subject")
      .flatMap(node.named)
      .flatMap: child =>
        child
          .attribute("label")
          .orElse(child.attribute("term"))
          .map(Clean.text)
          .orElse(plain(child))
      .distinct
      .toVector

  /** Returns the files, each once. Each gets the playing time of the entry. */
  def enclosures(node: Node): Vector[Enclosure] =
    val duration = node.named("itunes:duration").flatMap(child => seconds(child.text)).nextOption()
    val ofRss = node.named("enclosure").flatMap(enclosure(_, "url", duration))
    val ofAtom = node
      .named("link")
      .filter(_.attribute("rel").exists(Node.lower(_) == "enclosure"))
      .flatMap(enclosure(_, "href", duration))
    (ofRss ++ ofAtom).distinctBy(_.url).toVector

  /** A time that something plays: seconds, minutes and seconds, or with hours as well. */
  def seconds(text: String): Option[Long] = text.trim match
    case clock(hours, minutes, seconds) =>
      Some(number(hours) * 3600 + number(minutes) * 60 + seconds.toLong)
    case _ => None

  private val clock = """(?:(?:(\d{1,4}):)?(\d{1,6}):)?(\d{1,9})(?:\.\d*)?""".r

  private def number(text: String | Null): Long = if text == null then 0 else text.toLong

  private def enclosure(node: Node, address: String, seconds: Option[Long]): Option[Enclosure] =
    node
      .attribute(address)
      .flatMap(Link.resolve(node.base, _))
      .map: url =>
        Enclosure(
          url = Clean.text(url),
          kind = node.attribute("type").map(Clean.text),
          length = node.attribute("length").flatMap(_.toLongOption).filter(_ > 0),
          seconds = seconds
        )

  /** Atom has the name in an element of its own, RSS behind the address: `a@b.example (Ann)`. */
  private def author(node: Node): Option[String] =
    List("name", "email", "uri").iterator
      .flatMap(node.named)
      .flatMap(plain)
      .nextOption()
      .orElse(Option.when(node.children.isEmpty)(node).flatMap(plain))
      .map:
        case mailFirst(name) => name.trim
        case nameFirst(name) => name.trim
        case other => other

  private val mailFirst = """\S+@\S+\s*\(([^()]*[^()\s][^()]*)\)""".r
  private val nameFirst = """([^<>]*[^<>\s])\s*<\S+@\S+>""".r

  private def isMail(text: String): Boolean = text.contains('@') && !text.exists(_.isWhitespace)

  private def plain(node: Node): Option[String] = Markup.plain(node).map(Clean.text)
