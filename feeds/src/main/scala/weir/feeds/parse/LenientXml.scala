package weir.feeds.parse

import java.util.regex.Matcher
import scala.jdk.CollectionConverters.*

import org.jsoup.nodes.{Element, TextNode}
import org.jsoup.parser.{ParseSettings, Parser}
import org.jsoup.select.{NodeTraversor, NodeVisitor}

/** Reads as much as possible of XML that is not well-formed, as a browser reads HTML, by jsoup's
  * parser for XML. It reports no error for any input. It does not expand entities that the document
  * defines, and opens nothing outside of the document.
  */
private[parse] object LenientXml:
  /** Returns the document in `text`, which comes from the address `base`. An element that the
    * document does not end is not whole. Names are compared without regard to case, since `<Title>`
    * is ended by `</title>`.
    */
  def parse(text: String, base: String): Node =
    val parser = Parser
      .xmlParser()
      .settings(ParseSettings.htmlDefault)
      .setTrackPosition(true)
      .setMaxDepth(Int.MaxValue)
    val builder = Node.Builder(base)
    val document = parser.parseInput(withAmpersands(text), base)
    NodeTraversor.traverse(Events(builder), document)
    builder.result

  /** A bare `&` is one: a browser would read `&copy=1` in an address as `©=1`, and XML has no
    * entities without a semicolon. The content of a CDATA section is not changed.
    */
  private def withAmpersands(text: String): String =
    bare.replaceAllIn(
      text,
      found => if found.matched == "&" then "&amp;" else Matcher.quoteReplacement(found.matched)
    )

  private val bare =
    ("""(?s)<!\[CDATA\[.*?(?:\]\]>|\z)|""" +
      """&(?!#\d{1,7};|#[xX][0-9A-Fa-f]{1,6};|[A-Za-z][A-Za-z0-9]{0,31};)""").r

  private final class Events(builder: Node.Builder) extends NodeVisitor:
    def head(node: org.jsoup.nodes.Node, depth: Int): Unit =
      node match
        case element: Element if depth > 0 =>
          builder.begin(
            element.tagName,
            element.attributes.asList.asScala.toVector.map(a => a.getKey -> a.getValue)
          )
        case text: TextNode => builder.text(text.getWholeText)
        case _ => ()

    override def tail(node: org.jsoup.nodes.Node, depth: Int): Unit =
      node match
        case element: Element if depth > 0 =>
          val end = element.endSourceRange
          builder.end(isWhole = end.isTracked && !end.isImplicit)
        case _ => ()
