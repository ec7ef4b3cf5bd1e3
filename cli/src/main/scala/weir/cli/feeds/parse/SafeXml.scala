package weir.cli.feeds.parse

import java.io.StringReader
import javax.xml.XMLConstants
import javax.xml.parsers.SAXParserFactory

import org.jdom2.{Document, JDOMException}
import org.jdom2.input.SAXBuilder
import org.jdom2.input.sax.XMLReaderJDOMFactory
import org.xml.sax.{EntityResolver, InputSource, XMLReader}

import weir.cli.feeds.fetch.{Failure, Reason}

/** Parses XML that strangers wrote.
  *
  *   - '''External''' entities and DTDs are never opened, neither files nor addresses; a reference to
  *     one is left out of the text. Refusing every DOCTYPE would lose honest old feeds.
  *   - '''Internal''' entities are expanded up to the limits below, so a small document cannot become
  *     a large one.
  */
private[parse] object SafeXml:
  /** Old feeds define some dozens of entities for accents; an attack needs thousands. */
  private val entityLimits = Map(
    "http://www.oracle.com/xml/jaxp/properties/entityExpansionLimit" -> "1000",
    "http://www.oracle.com/xml/jaxp/properties/totalEntitySizeLimit" -> "1000000",
    "http://www.oracle.com/xml/jaxp/properties/maxElementDepth" -> "200"
  )

  /** A document, and whether it refers to something outside, which was left out. */
  final case class Parsed(document: Document, hasLeftOut: Boolean)

  def parse(text: String): Either[Failure, Parsed] =
    val outside = Outside()
    val builder = SAXBuilder(SafeReaders)
    builder.setEntityResolver(outside)
    try
      val document = builder.build(StringReader(text.stripLeading))
      Right(Parsed(document, outside.wasAsked))
    catch
      case error: JDOMException =>
        val message = Option(error.getMessage).getOrElse("")
        val reason = if isLimit(message) then Reason.EntityBomb else Reason.Malformed
        Left(Failure(reason, message.linesIterator.nextOption().getOrElse("")))

  /** The JDK's messages about its limits have codes from JAXP00010001 to JAXP00010008. */
  private def isLimit(message: String): Boolean = message.contains("JAXP0001000")

  /** Answers nothing to whatever is asked for, and remembers that it was asked. */
  private final class Outside extends EntityResolver:
    var wasAsked = false

    def resolveEntity(publicId: String, systemId: String): InputSource =
      wasAsked = true
      InputSource(StringReader(""))

  /** JDOM switches `external-general-entities` on again behind our back, so the resolver is what
    * counts, and the two empty lists of allowed protocols behind it.
    */
  private object SafeReaders extends XMLReaderJDOMFactory:
    def isValidating: Boolean = false

    def createXMLReader(): XMLReader =
      val factory = SAXParserFactory.newDefaultNSInstance()
      factory.setFeature(XMLConstants.FEATURE_SECURE_PROCESSING, true)
      factory.setFeature("http://xml.org/sax/features/external-parameter-entities", false)
      factory.setFeature("http://apache.org/xml/features/nonvalidating/load-external-dtd", false)
      factory.setXIncludeAware(false)
      val parser = factory.newSAXParser()
      parser.setProperty(XMLConstants.ACCESS_EXTERNAL_DTD, "")
      parser.setProperty(XMLConstants.ACCESS_EXTERNAL_SCHEMA, "")
      entityLimits.foreach((name, value) => parser.setProperty(name, value))
      parser.getXMLReader
