package weir.feeds.reader

import java.net.URI
import scala.jdk.CollectionConverters.*
import scala.util.Try

import org.jsoup.Jsoup
import org.jsoup.nodes.{Document, Element, TextNode}
import org.jsoup.safety.{Cleaner, Safelist}

/** Sanitized HTML: it keeps text and links, and nothing that runs, loads or styles.
  *
  * Only [[SafeHtml.of]] makes one, so a page can hold no other HTML of a stranger.
  *
  * @param isPlain
  *   true if it has no element at all, so that its line breaks are all the form that it has
  */
final class SafeHtml private (val html: String, val isPlain: Boolean)

object SafeHtml:
  /** Sanitizes `html` by jsoup, and makes links absolute by `base`, the address it came from.
    *
    * Content that a page would load by itself (pictures, sound, films, other pages) becomes a link:
    * loading it would show its server who reads what and when.
    */
  def of(html: String, base: String): SafeHtml =
    val document = Jsoup.parseBodyFragment(html.take(longest), base)
    replaceLoaded(document)
    val clean = Cleaner(allowed).clean(document)
    clean.outputSettings.prettyPrint(false)
    SafeHtml(clean.body.html, isPlain = clean.body.childrenSize == 0)

  /** Returns the address, if a page may link to it. */
  def link(address: String): Option[String] =
    Try(URI(address.trim)).toOption
      .filter(uri => uri.getScheme != null && uri.getRawAuthority != null)
      .filter(uri => Set("http", "https")(uri.getScheme.toLowerCase))
      .map(_.toASCIIString)

  /** More than any text is stored with. */
  private val longest = 2_000_000

  private def allowed = Safelist.none
    .addTags("p", "br", "hr", "div", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "pre")
    .addTags("ul", "ol", "li", "dl", "dt", "dd", "figure", "figcaption")
    .addTags("table", "caption", "thead", "tbody", "tfoot", "tr", "th", "td")
    .addTags("a", "abbr", "b", "bdi", "cite", "code", "del", "dfn", "em", "i", "ins", "kbd", "mark")
    .addTags(
      "q",
      "rp",
      "rt",
      "ruby",
      "s",
      "samp",
      "small",
      "span",
      "strong",
      "sub",
      "sup",
      "u",
      "var"
    )
    .addAttributes("a", "href")
    .addAttributes("td", "colspan", "rowspan")
    .addAttributes("th", "colspan", "rowspan")
    .addAttributes(":all", "dir", "lang")
    .addProtocols("a", "href", "http", "https")
    .addEnforcedAttribute("a", "rel", "noopener noreferrer nofollow")

  private val loaded = Map(
    "img" -> "picture",
    "video" -> "film",
    "audio" -> "sound",
    "iframe" -> "page",
    "embed" -> "object",
    "object" -> "object"
  )

  private def replaceLoaded(document: Document): Unit =
    for element <- document.select(loaded.keys.mkString(", ")).asScala do
      val address = Option(element.selectFirst("[src]")).map(_.absUrl("src")).flatMap(link)
      val about = PlainText.line(element.attr("alt"))
      if isTrackingPixel(element) || address.isEmpty && about.isEmpty then element.remove()
      else
        val name = if about.isEmpty then address.fold("")(URI(_).getHost) else about
        val label = s"[${loaded(element.normalName)}: $name]"
        element.replaceWith(address.filter(_ => element.closest("a") == null) match
          case Some(href) => Element("a").attr("href", href).text(label)
          case None => TextNode(label))

  /** Returns true for a picture too small to be seen: it serves only to track its loading. */
  private def isTrackingPixel(element: Element): Boolean =
    Seq("width", "height").exists(side => Set("0", "1")(element.attr(side).trim))
