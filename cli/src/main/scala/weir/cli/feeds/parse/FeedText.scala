package weir.cli.feeds.parse

import java.nio.ByteBuffer
import java.nio.charset.{CharacterCodingException, Charset, CodingErrorAction, StandardCharsets}
import scala.util.Try

import weir.cli.feeds.fetch.{Failure, Reason}

/** The text of a feed, from bytes whose encoding is often named wrongly.
  *
  * In this order: a byte order mark is believed; UTF-8, if it is named at all and the bytes are
  * valid UTF-8, or nearly, since other encodings hardly ever look like it; the first name (the
  * server's, then the XML declaration's) that can decode every byte; UTF-8, though nothing named
  * it; and if all names were known but wrong, windows-1252, which most mislabelled feeds are. A
  * name that Java does not know, over bytes that are not UTF-8, is refused: any guess would store
  * rubbish.
  */
final case class FeedText(text: String, wasWronglyNamed: Boolean)

object FeedText:
  /** The text of `bytes`; `served` is the charset that the server named. */
  def decode(bytes: Array[Byte], served: Option[String]): Either[Failure, FeedText] =
    byMark(bytes).getOrElse:
      val names = (served.toVector ++ declared(bytes)).distinctBy(_.toLowerCase)
      // Without a mark, and with text that looks like ASCII, it is none of these, whatever it says.
      val possible = names.filterNot(wide.matches)
      val known = possible.flatMap(name => Try(Charset.forName(name)).toOption).distinct
      val isUtf8Named = possible.isEmpty || known.contains(StandardCharsets.UTF_8)
      val utf8 = strictly(bytes, StandardCharsets.UTF_8)
      if isUtf8Named && utf8.nonEmpty then
        Right(FeedText(utf8.get, wasWronglyNamed = names.size > 1 && !isAscii(bytes)))
      else
        val byName = known.iterator.flatMap(set => strictly(bytes, set).map(set -> _)).nextOption()
        Option
          .when(isUtf8Named)(mostlyUtf8(bytes))
          .flatten
          .orElse(byName.map((set, text) => FeedText(text, wasWronglyNamed = known.head != set)))
          .orElse(utf8.map(FeedText(_, wasWronglyNamed = true)))
          .toRight(refusal(names))
          .orElse(Either.cond(known.size == possible.size, asWindows(bytes), refusal(names)))

  private val marks = Vector(
    (Vector(0xef, 0xbb, 0xbf), StandardCharsets.UTF_8),
    (Vector(0xff, 0xfe, 0x00, 0x00), StandardCharsets.UTF_32LE),
    (Vector(0x00, 0x00, 0xfe, 0xff), StandardCharsets.UTF_32BE),
    (Vector(0x3c, 0x00, 0x00, 0x00), StandardCharsets.UTF_32LE),
    (Vector(0x00, 0x00, 0x00, 0x3c), StandardCharsets.UTF_32BE),
    (Vector(0xfe, 0xff), StandardCharsets.UTF_16BE),
    (Vector(0xff, 0xfe), StandardCharsets.UTF_16LE),
    (Vector(0x00, 0x3c, 0x00), StandardCharsets.UTF_16BE),
    (Vector(0x3c, 0x00), StandardCharsets.UTF_16LE)
  )

  private def byMark(bytes: Array[Byte]): Option[Either[Failure, FeedText]] =
    marks
      .find((mark, _) => mark.indices.forall(i => bytes.length > i && (bytes(i) & 0xff) == mark(i)))
      .map: (_, charset) =>
        Right(
          strictly(bytes, charset) match
            case Some(text) => FeedText(text.stripPrefix("\uFEFF"), wasWronglyNamed = false)
            case None =>
              FeedText(String(bytes, charset).stripPrefix("\uFEFF"), wasWronglyNamed = true)
        )

  /** Encodings of two or four bytes each letter. */
  private val wide = "(?i)utf-?(?:16|32).*|(?:iso-10646-)?ucs-?[24].*".r

  private val declaration =
    """(?s)\A\s*<\?xml[^>]*?encoding\s*=\s*["']([A-Za-z0-9._:+-]+)["'].*""".r

  private def declared(bytes: Array[Byte]): Option[String] =
    String(bytes, 0, bytes.length min 200, StandardCharsets.ISO_8859_1) match
      case declaration(name) => Some(name)
      case _ => None

  private def strictly(bytes: Array[Byte], charset: Charset): Option[String] =
    val decoder = charset
      .newDecoder()
      .onMalformedInput(CodingErrorAction.REPORT)
      .onUnmappableCharacter(CodingErrorAction.REPORT)
    try Some(decoder.decode(ByteBuffer.wrap(bytes)).toString)
    catch case _: CharacterCodingException => None

  /** UTF-8 with a few bad bytes, such as a letter that was cut in two: they become U+FFFD. */
  private def mostlyUtf8(bytes: Array[Byte]): Option[FeedText] =
    val text = String(bytes, StandardCharsets.UTF_8)
    val bad = text.count(_ == '\uFFFD')
    Option.when(text.count(_ > 127) > 3 * bad)(FeedText(text, wasWronglyNamed = true))

  private def asWindows(bytes: Array[Byte]): FeedText =
    FeedText(String(bytes, Charset.forName("windows-1252")), wasWronglyNamed = true)

  private def isAscii(bytes: Array[Byte]): Boolean = bytes.forall(_ >= 0)

  private def refusal(names: Vector[String]): Failure =
    Failure(Reason.WrongEncoding, s"it is said to be ${names.mkString(" or ")}, and is not UTF-8")
