package weir.feeds.parse

import java.nio.charset.StandardCharsets.UTF_8
import java.util.Base64
import scala.jdk.CollectionConverters.*
import scala.util.Try

import org.jsoup.Jsoup
import org.jsoup.nodes.{Document, Entities}
import org.jsoup.parser.Tag

/** Interprets the text of an element: as HTML in RSS, and in Atom as its `type` and `mode` say. */
private[parse] object Markup:
  /** Returns the element's content as HTML, with absolute links; none if it is empty. */
  def html(node: Node): Option[String] =
    Some(source(node)).map(_.trim).filter(_.nonEmpty).map(withAbsoluteLinks(_, node.base))

  /** Returns the element's content as plain text, each run of white space as one space; none if it
    * is empty.
    */
  def plain(node: Node): Option[String] =
    val text = source(node, isTitle = true)
    val plain = if hasMarkup(text, isTitle = true) then Jsoup.parse(text).text else text
    Some(plain.split("\\s+").mkString(" ").trim).filter(_.nonEmpty)

  private def source(node: Node, isTitle: Boolean = false): String =
    val kind = node.attribute("type").map(Node.lower).getOrElse("")
    val text = decoded(node, kind)
    if node.children.nonEmpty then inner(unwrapped(node))
    else if plainTypes(kind) && (kind.nonEmpty || !hasMarkup(text, isTitle)) then escaped(text)
    else text

  private val plainTypes = Set("text", "text/plain", "")

  /** Atom 0.3 has a `mode`; in Atom 1.0 a type that is neither text nor XML means Base64. */
  private def decoded(node: Node, kind: String): String =
    val text = node.text
    val isBinary = kind.contains('/') && !kind.startsWith("text/") && !kind.endsWith("xml") &&
      kind != "application/json"
    if node.attribute("mode").exists(Node.lower(_) == "base64") || isBinary then
      Try(String(Base64.getMimeDecoder.decode(text.trim), UTF_8)).filter(isText).getOrElse(text)
    else text

  private def isText(text: String): Boolean = !text.contains('\uFFFD') && !text.contains('\u0000')

  /** The `div` that Atom puts around XHTML is not part of the content. */
  private def unwrapped(node: Node): Node =
    val hasText = node.parts.exists:
      case text: String => text.exists(!_.isWhitespace)
      case _ => false
    node.children.toList match
      case List(div) if !hasText && div.localName == "div" => div
      case _ => node

  private def inner(node: Node): String = node.parts
    .map:
      case text: String => escaped(text)
      case child: Node =>
        val name = child.localName
        val attributes = child.attributes.collect {
          case (name, value) if !name.contains(':') => s""" $name="${escaped(value)}""""
        }.mkString
        // An empty element that does not end has in it all that follows.
        if name.isEmpty then inner(child)
        else if Tag.valueOf(name).isEmpty then s"<$name$attributes>${inner(child)}"
        else s"<$name$attributes>${inner(child)}</$name>"
    .mkString

  private def escaped(text: String): String = Entities.escape(text, settings)

  private val settings =
    Document
      .OutputSettings()
      .charset(UTF_8)
      .escapeMode(Entities.EscapeMode.xhtml)
      .prettyPrint(false)

  private val tag = """</?([A-Za-z][A-Za-z0-9]*)(?:\s[^<>]*)?/?>""".r
  private val entity = """&(?:#\d{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z]{2,31}\d{0,2});""".r

  /** Returns true if `text`, of which nothing says so, is HTML: it has a tag of HTML, or an entity.
    *
    * @param isTitle
    *   true if only tags count that a title may have: `List<Object>` is no HTML
    */
  private def hasMarkup(text: String, isTitle: Boolean): Boolean =
    (text.contains('&') && entity.findFirstIn(text).nonEmpty) ||
      (text.contains('<') && tag
        .findAllMatchIn(text)
        .exists(found => Tag.isKnownTag(Node.lower(found.group(1))) || !isTitle))

  /** Each part takes all it can and gives nothing back, or a feed of 50 KB would take a minute. */
  private val relative =
    ("""(?i)<[a-z][^<>]*\s(?:href|src|poster|cite)\s*+=\s*+["']?+\s*+""" +
      """(?![a-z][a-z0-9+.-]*+:|#|["'>])""").r

  private val linked = List("href", "src", "poster", "cite")

  /** Absolute links may make a text longer by this many characters at most. */
  private val longestGrowth = 10_000_000L

  /** Parsed and written anew only if there is a relative link in it. */
  private def withAbsoluteLinks(html: String, base: String): String =
    if relative.findFirstIn(html).isEmpty then html
    else
      val document = Jsoup.parseBodyFragment(html, base)
      document.outputSettings(settings)
      val elements = document.select(linked.map(name => s"[$name]").mkString(",")).asScala
      if elements.size * base.length.toLong > longestGrowth then html
      else
        for
          element <- elements
          name <- linked
          if element.hasAttr(name) && !element.attr(name).startsWith("#")
          link <- Link.resolve(base, element.attr(name))
        do element.attr(name, link): Unit
        document.body.html
