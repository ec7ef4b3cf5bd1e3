package weir.feeds.parse

import java.io.{IOException, StringReader}
import javax.xml.XMLConstants
import javax.xml.parsers.{SAXParser, SAXParserFactory}

import org.jsoup.nodes.Entities
import org.xml.sax.{Attributes, InputSource, SAXException, SAXParseException}
import org.xml.sax.ext.DefaultHandler2

import weir.feeds.fetch.{Failure, Reason}

/** Parses XML that strangers wrote, if it is well-formed.
  *
  *   - **External** entities and DTDs are never opened, neither files nor addresses; a reference to
  *     one is left out of the text. Refusing every DOCTYPE would lose honest old feeds.
  *   - **Internal** entities are expanded up to the limits below, so a small document cannot become
  *     a large one.
  *   - **Undefined** entities can be well-formed in a document that has an external DTD; those of
  *     HTML are what such feeds mean.
  */
private[parse] object StrictXml:
  /** Old feeds define some dozens of entities for accents; an attack needs thousands, or long ones.
    *
    * The JDK counts the document itself among its entities.
    */
  private def limits(text: String): Map[String, Int] =
    val total = text.length + 1_000_000
    Map(
      "entityExpansionLimit" -> 1000,
      "maxGeneralEntitySizeLimit" -> total,
      "totalEntitySizeLimit" -> total,
      "maxElementDepth" -> Node.deepest
    )

  /** A document, and whether it refers to something outside, which was left out. */
  final case class Parsed(document: Node, hasLeftOut: Boolean)

  /** Returns the document in `text`, which comes from the address `base`. */
  def parse(text: String, base: String): Either[Failure, Parsed] =
    val events = Events(base)
    try
      parser(text).parse(InputSource(StringReader(text.stripLeading)), events)
      Right(Parsed(events.builder.result, events.wasAsked))
    catch
      case error: (SAXException | IOException) =>
        val message = Option(error.getMessage).getOrElse(error.toString)
        val reason = if isLimit(message) then Reason.EntityBomb else Reason.Malformed
        Left(Failure(reason, place(error) + message.linesIterator.nextOption().getOrElse("")))

  private def place(error: Exception): String =
    error match
      case at: SAXParseException => s"line ${at.getLineNumber}, column ${at.getColumnNumber}: "
      case _ => ""

  /** The JDK's codes for too many entities, too long ones, and too much text of entities. Honest
    * feeds that are not well-formed reach its other limits, such as that of the depth.
    */
  private def isLimit(message: String): Boolean = entityLimits.exists(message.contains)

  private val entityLimits = List("JAXP00010001", "JAXP00010003", "JAXP00010004")

  private def parser(text: String): SAXParser =
    val factory = SAXParserFactory.newDefaultInstance()
    factory.setFeature(XMLConstants.FEATURE_SECURE_PROCESSING, true)
    factory.setFeature("http://xml.org/sax/features/external-parameter-entities", false)
    factory.setFeature("http://apache.org/xml/features/nonvalidating/load-external-dtd", false)
    factory.setXIncludeAware(false)
    val parser = factory.newSAXParser()
    parser.setProperty(XMLConstants.ACCESS_EXTERNAL_DTD, "")
    parser.setProperty(XMLConstants.ACCESS_EXTERNAL_SCHEMA, "")
    limits(text).foreach: (name, limit) =>
      parser.setProperty(s"http://www.oracle.com/xml/jaxp/properties/$name", limit.toString)
    parser

  /** Builds the document. It resolves every external reference to nothing, and remembers that there
    * was one.
    */
  private final class Events(base: String) extends DefaultHandler2:
    val builder = Node.Builder(base)
    var wasAsked = false

    override def startElement(
        uri: String,
        localName: String,
        name: String,
        attributes: Attributes
    ): Unit =
      builder.begin(
        name,
        (0 until attributes.getLength).map(i => attributes.getQName(i) -> attributes.getValue(i))
      )

    override def endElement(uri: String, localName: String, name: String): Unit =
      builder.end(isWhole = true)

    override def characters(text: Array[Char], start: Int, length: Int): Unit =
      builder.text(String(text, start, length))

    override def skippedEntity(name: String): Unit = builder.text(Entities.getByName(name))

    override def resolveEntity(
        name: String,
        publicId: String,
        baseUri: String,
        systemId: String
    ): InputSource =
      wasAsked = true
      InputSource(StringReader(""))

    override def fatalError(error: SAXParseException): Unit = throw error
