package weir.feeds.input

import java.nio.file.Path
import scala.jdk.CollectionConverters.*

import org.jsoup.nodes.{Document, Element}
import org.jsoup.parser.Parser

import weir.feeds.encoding.DecodedText
import weir.program.BadInput

/** Reads the subscriptions of an OPML file, at any depth of its folders.
  *
  * Many readers export what no XML parser takes: a bare `&` in an address, an entity of HTML, a tag
  * that is never closed. So the file is read as browsers read pages. An outline that is a feed
  * without a usable address, and a file that ends in the middle, are reported.
  */
object Opml:
  /** Returns the feeds in `path`, in order, and each problem by its line. Nothing outside the file
    * is ever read, and entities that it declares stay as they are.
    *
    * **Fails** with [[BadInput]] if the file cannot be read, is not OPML, or has no feed in it.
    */
  def read(path: Path): FeedList =
    val bytes = InputFile.bytes(path)
    val input = DecodedText.of(bytes, None).getOrElse(DecodedText.asWindows(bytes))
    val document = Parser.xmlParser().setTrackPosition(true).parseInput(input.text, "")
    val root = rootOf(path, document)
    val outlines = root.getAllElements.asScala.filter(isNamed(_, "outline"))
    val list = FeedList.of(outlines.flatMap(feed(path, _)))
    val problems = guess(path, input).toVector ++ list.problems ++ cut(path, root, input.text)
    if list.feeds.isEmpty && problems.isEmpty then
      throw BadInput(
        path.toString,
        "no outline in it has an xmlUrl.",
        "Export the subscriptions of your feed reader as OPML."
      )
    FeedList(list.feeds, problems)

  private def rootOf(path: Path, document: Document): Element =
    document.getAllElements.asScala
      .find(isNamed(_, "opml"))
      .getOrElse:
        val problem = document.children.asScala.headOption match
          case Some(other) => s"the root element is <${other.tagName}>, not <opml>."
          case None => "there is no element <opml> in it."
        val hint = "Give a list of subscriptions as OPML, or a text file with --urls."
        throw BadInput(path.toString, problem, hint)

  /** Returns the feed that `outline` subscribes to, or why it cannot be used; a folder has none. */
  private def feed(path: Path, outline: Element): Option[Either[BadInput, NewFeed]] =
    val attributes = outline.attributes.asScala
      .map(attribute => attribute.getKey.toLowerCase -> attribute.getValue.trim)
      .filter((_, value) => value.nonEmpty)
      .toMap
    val isFeed = attributes.get("type").exists(kind => feedTypes(kind.toLowerCase))
    val place = s"$path:${outline.sourceRange.start.lineNumber}"
    attributes.get("xmlurl").orElse(attributes.get("url").filter(_ => isFeed)) match
      case Some(address) =>
        val title = attributes.get("title").orElse(attributes.get("text"))
        Some(NewFeed.typed(address, title).left.map(BadInput(place, _, FeedUrl.hint)))
      case None =>
        Option.when(isFeed)(
          Left(
            BadInput(
              place,
              "this outline is a feed without an xmlUrl.",
              "Add the address of the feed, or remove the outline."
            )
          )
        )

  private val feedTypes = Set("rss", "atom", "feed")

  private def guess(path: Path, input: DecodedText): Option[BadInput] =
    Option.when(input.isGuess):
      BadInput(
        path.toString,
        s"it is not UTF-8, and nothing says its encoding, so it was read as ${input.encoding}.",
        "Save the file as UTF-8 if a title looks wrong."
      )

  /** A root that is never closed: an interrupted download, or a file that was edited by hand. */
  private def cut(path: Path, root: Element, text: String): Option[BadInput] =
    Option.when(root.endSourceRange.isImplicit || !root.endSourceRange.isTracked):
      BadInput(
        s"$path:${text.linesIterator.size max 1}",
        "the file ends before </opml>, so feeds may be missing.",
        "Export the file again."
      )

  private def isNamed(element: Element, name: String): Boolean =
    element.tagName.toLowerCase.split(':').last == name
