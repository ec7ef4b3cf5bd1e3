package weir.feeds.parse

/** Gives the elements of feeds the names that they usually have.
  *
  * All versions of RSS and Atom, and elements in no namespace, share one vocabulary without a
  * prefix: `title` is `title` in each, and feeds mix them. A namespace that is not known, or a
  * prefix that was never bound, keeps the prefix as it was written.
  */
private[parse] final class Vocabulary:
  import Vocabulary.*

  /** The namespace of the root element, which may be any: many feeds have a wrong one. */
  private var own: Option[Namespace] = None
  private var hasRoot = false

  /** Returns the bindings at the root. */
  def usual: Scope = unbound

  /** Returns the bindings inside an element that is written as `qualifiedName` in `outer`. */
  def within(outer: Scope, qualifiedName: String, attributes: Seq[(String, String)]): Scope =
    val bound = attributes.collect:
      case ("xmlns", uri) => "" -> Namespace.of("", uri)
      case (name, uri) if name.startsWith("xmlns:") =>
        name.drop(6) -> Namespace.of(name.drop(6), uri)
    val scope = if bound.isEmpty then outer else outer ++ bound
    val (prefix, local) = split(qualifiedName)
    if !hasRoot && roots(Node.lower(local)) then
      hasRoot = true
      own = scope.get(prefix)
    scope

  def element(scope: Scope, qualifiedName: String): String =
    val (prefix, local) = split(qualifiedName)
    join(usualPrefix(scope, prefix), local)

  /** An attribute without a prefix is in no namespace. */
  def attribute(scope: Scope, qualifiedName: String): String =
    val (prefix, local) = split(qualifiedName)
    if prefix.isEmpty then Node.lower(local) else join(usualPrefix(scope, prefix), local)

  private def usualPrefix(scope: Scope, prefix: String): String =
    scope.get(prefix) match
      case Some(found) => if own.exists(_.uri == found.uri) then "" else found.usualPrefix
      case None => if ours(Node.lower(prefix)) then "" else Node.lower(prefix)

private[parse] object Vocabulary:
  /** From prefixes to namespaces. */
  type Scope = Map[String, Namespace]

  /** The namespace of a prefix, and the prefix that its elements get. It is looked up once, at the
    * declaration of the prefix.
    */
  final case class Namespace(uri: String, usualPrefix: String)

  object Namespace:
    def of(prefix: String, uri: String): Namespace =
      Namespace(uri.trim, ofNamespace(uri.trim).getOrElse(Node.lower(prefix)))

  private val unbound: Scope = Map(
    "xml" -> Namespace("http://www.w3.org/XML/1998/namespace", "xml")
  )

  /** The elements with which a feed begins. */
  val roots: Set[String] = Set("rss", "feed", "channel")

  /** Prefixes of RSS and Atom that are used without being bound. */
  private val ours = Set("rss", "atom", "atom03", "atom10")

  private val namespaces = List(
    "http://purl.org/rss/1.0/modules/content/" -> "content",
    "http://purl.org/rss/1.0/modules/syndication/" -> "sy",
    "http://purl.org/rss/1.0/modules/" -> "module",
    "http://www.w3.org/xml/1998/namespace" -> "xml",
    "http://www.w3.org/1999/02/22-rdf-syntax-ns" -> "rdf",
    "http://www.w3.org/1999/xhtml" -> "xhtml",
    "http://purl.org/dc/elements/" -> "dc",
    "http://purl.org/dc/terms/" -> "dcterms",
    "http://www.itunes.com/dtds/podcast-1.0.dtd" -> "itunes",
    "http://search.yahoo.com/mrss" -> "media",
    "http://purl.org/rss/" -> "",
    "http://purl.org/net/rss1.1" -> "",
    "http://my.netscape.com/" -> "",
    "http://channel.netscape.com/" -> "",
    "http://backend.userland.com/" -> "",
    "http://blogs.law.harvard.edu/tech/rss" -> "",
    "http://cyber.law.harvard.edu/rss" -> "",
    "http://www.w3.org/2005/atom" -> "",
    "http://purl.org/atom/" -> ""
  )

  private val longestNamespace = 100

  private def ofNamespace(uri: String): Option[String] =
    val known = Node.lower(uri.take(longestNamespace)).replaceFirst("^https:", "http:")
    namespaces.collectFirst { case (start, prefix) if known.startsWith(start) => prefix }

  private def split(qualifiedName: String): (String, String) =
    val colon = qualifiedName.indexOf(':')
    if colon < 0 then ("", qualifiedName)
    else (qualifiedName.take(colon), qualifiedName.drop(colon + 1))

  private def join(prefix: String, local: String): String =
    if prefix.isEmpty then Node.lower(local) else s"$prefix:${Node.lower(local)}"
