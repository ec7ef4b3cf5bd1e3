package weir.cli.feeds.input

import java.io.ByteArrayInputStream
import java.nio.file.Path
import javax.xml.stream.{XMLInputFactory, XMLStreamConstants, XMLStreamException, XMLStreamReader}

import weir.cli.BadInput

/** Reads the subscriptions of an OPML file, at any depth of its folders. */
object Opml:
  /** The feeds in `path`, in order, each address once.
    *
    * '''Fails''' with [[BadInput]] that names the line, if the XML is malformed, is not OPML, or an
    * outline is a feed without an address. Nothing outside the file is ever read: a DOCTYPE is
    * skipped.
    */
  def read(path: Path): Vector[NewFeed] =
    val reader = factory.createXMLStreamReader(ByteArrayInputStream(InputFile.bytes(path)))
    try
      val feeds = outlines(path, reader)
      if feeds.isEmpty then
        throw BadInput(
          path.toString,
          "no outline in it has an xmlUrl.",
          "Export the subscriptions of your feed reader as OPML."
        )
      feeds.distinctBy(_.url)
    catch
      case bad: XMLStreamException =>
        val line = Option(bad.getLocation).fold(1)(_.getLineNumber max 1)
        throw BadInput(
          s"$path:$line",
          s"malformed XML (${plain(bad.getMessage)}).",
          "Export the file again."
        )
    finally reader.close()

  private def outlines(path: Path, reader: XMLStreamReader): Vector[NewFeed] =
    val found = Vector.newBuilder[NewFeed]
    var isRoot = true
    while reader.hasNext do
      if reader.next() == XMLStreamConstants.START_ELEMENT then
        val name = reader.getLocalName.toLowerCase
        if isRoot && name != "opml" then
          throw BadInput(
            at(path, reader),
            s"the root element is <${reader.getLocalName}>, not <opml>.",
            "Give a list of subscriptions as OPML, or a text file with --urls."
          )
        isRoot = false
        if name == "outline" then found ++= feed(path, reader)
    found.result()

  /** The feed that the outline the reader stands on subscribes to; a folder has none. */
  private def feed(path: Path, reader: XMLStreamReader): Option[NewFeed] =
    val attributes = (0 until reader.getAttributeCount)
      .map(i => reader.getAttributeLocalName(i).toLowerCase -> reader.getAttributeValue(i))
      .toMap
    attributes.get("xmlurl").map(_.trim).filter(_.nonEmpty) match
      case Some(address) =>
        FeedUrl.parse(address) match
          case Right(url) =>
            Some(NewFeed(url, attributes.get("title").orElse(attributes.get("text"))))
          case Left(problem) => throw BadInput(at(path, reader), problem, FeedUrl.hint)
      case None =>
        if attributes.get("type").exists(feedTypes) then
          throw BadInput(
            at(path, reader),
            "this outline is a feed without an xmlUrl.",
            "Add the address of the feed, or remove the outline."
          )
        None

  private val feedTypes = Set("rss", "atom", "feed")

  private def at(path: Path, reader: XMLStreamReader): String =
    s"$path:${reader.getLocation.getLineNumber}"

  /** The message of the JDK's parser without its own note of the place. */
  private def plain(message: String): String =
    message.linesIterator.toVector.lastOption
      .getOrElse("")
      .stripPrefix("Message: ")
      .stripSuffix(".")

  private lazy val factory: XMLInputFactory =
    val made = XMLInputFactory.newDefaultFactory()
    made.setProperty(XMLInputFactory.SUPPORT_DTD, false)
    made.setProperty(XMLInputFactory.IS_SUPPORTING_EXTERNAL_ENTITIES, false)
    made
