package weir.feeds.encoding

import java.nio.charset.StandardCharsets
import java.util.Locale

import org.mozilla.universalchardet.UniversalDetector

/** The text of a document, from bytes whose encoding is often named wrongly.
  *
  * The encoding is found as browsers find it: a byte order mark, then the label of the server, then
  * that of the XML declaration, each by the table of [[EncodingLabels]]. Then what labels cannot be
  * right about is mended:
  *
  *   - **UTF-8** is what bytes are that are valid as it, whatever one-byte encoding they are said
  *     to be in; and nearly valid ones where a label says UTF-8, or there is none. An encoding of
  *     several bytes is believed over it for a few letters only, which may be either by chance.
  *   - **windows-1252**, which servers say of everything, yields to a declared encoding of
  *     several bytes that decodes all of them.
  *   - **A label whose encoding does not decode the bytes** yields to the next one, and then to
  *     a guess by the frequency of letters (juniversalchardet). Text that is nearly right in an
  *     encoding of several bytes is taken for it, with U+FFFD for the rest, and never for
  *     windows-1252.
  *   - **A label that nobody knows**, over bytes of which no guess is better than windows-1252,
  *     gives no text: it would be rubbish.
  *
  * @param encoding
  *   the name of the encoding that it was in
  * @param wasWronglyNamed
  *   true if the first label was wrong, or some bytes mean nothing
  * @param isGuess
  *   true if no label says that it is in this encoding, and the bytes do not either
  */
private[feeds] final case class DecodedText(
    text: String,
    encoding: String,
    wasWronglyNamed: Boolean,
    isGuess: Boolean = false
)

private[feeds] object DecodedText:
  /** Returns the text of `bytes`, or the error; `served` is the charset that the server named. */
  def of(bytes: Array[Byte], served: Option[String]): Either[String, DecodedText] =
    byMark(bytes)
      .map(Right(_))
      .getOrElse:
        val names = (served.toVector ++ declared(bytes)).distinctBy(_.toLowerCase(Locale.ROOT))
        Choice(bytes, names).text
          .toRight(s"it is said to be ${names.mkString(" or ")}, and is not UTF-8")

  /** Returns the text of `bytes` as windows-1252, in which any bytes are some text. */
  def asWindows(bytes: Array[Byte]): DecodedText =
    DecodedText(windows.decode(bytes), windows.name, wasWronglyNamed = true, isGuess = true)

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

  private def byMark(bytes: Array[Byte]): Option[DecodedText] =
    marks
      .find((mark, _) => mark.indices.forall(i => bytes.length > i && (bytes(i) & 0xff) == mark(i)))
      .map: (_, charset) =>
        val encoding = Encoding.OfCharset(charset.name, charset)
        val whole = encoding.strictly(bytes)
        val text = whole.getOrElse(encoding.decode(bytes))
        DecodedText(text.stripPrefix("\uFEFF"), charset.name, wasWronglyNamed = whole.isEmpty)

  private val declaration =
    """(?s)\A\s*<\?xml[^>]*?encoding\s*=\s*["']\s*([A-Za-z0-9._:+-]+)\s*["'].*""".r

  private def declared(bytes: Array[Byte]): Option[String] =
    String(bytes, 0, bytes.length min 200, StandardCharsets.ISO_8859_1) match
      case declaration(name) => Some(name)
      case _ => None

  /** Chooses the encoding of `bytes`, which have no byte order mark, among those that are named for
    * them.
    */
  private final class Choice(bytes: Array[Byte], names: Vector[String]):
    private val labels = names.map(Encoding.of)
    private val known = labels.flatten.distinct
    private val isUtf8Said = known.isEmpty || known.contains(Encoding.utf8)
    private val utf8 = Encoding.utf8.strictly(bytes)
    private val beyondAscii = bytes.count(_ < 0)
    private val isAscii = beyondAscii == 0 && !bytes.contains(escape)

    /** None if it cannot be known. */
    def text: Option[DecodedText] =
      if isAscii then Some(DecodedText(utf8.get, Encoding.utf8.name, wasWronglyNamed = false))
      else
        asUtf8
          .orElse(declaredBehindWindows)
          .orElse(known.iterator.flatMap(strictly).nextOption())
          .orElse(known.iterator.filterNot(_.isOneByte).flatMap(nearly).nextOption())
          .orElse(guessed)
          .orElse(known.find(_ != Encoding.utf8).map(e => as(e, e.decode(bytes), isWhole = false)))
          .orElse(if labels.exists(_.isEmpty) then None else unnamed)

    private def asUtf8: Option[DecodedText] =
      val isMeant = isUtf8Said || known.head.isOneByte || beyondAscii >= plenty
      utf8 match
        case Some(text) if beyondAscii > 0 =>
          Option.when(isMeant || known.head.strictly(bytes).isEmpty)(as(Encoding.utf8, text))
        case None if isUtf8Said => nearly(Encoding.utf8)
        case _ => None

    private def declaredBehindWindows: Option[DecodedText] =
      if !known.headOption.contains(windows) || beyondAscii < plenty then None
      else known.iterator.filterNot(_.isOneByte).flatMap(strictly).nextOption()

    private def strictly(encoding: Encoding): Option[DecodedText] =
      encoding.strictly(bytes).map(as(encoding, _))

    /** With a few bytes that mean nothing, such as a letter that was cut in two. */
    private def nearly(encoding: Encoding): Option[DecodedText] =
      val text = encoding.decode(bytes)
      val bad = text.count(_ == '\uFFFD')
      Option.when(text.count(_ > 127) > 3 * bad)(as(encoding, text, isWhole = false))

    /** If a label is not known, or names an encoding of several bytes, windows-1252 is no guess,
      * but the lack of one.
      */
    private def guessed: Option[DecodedText] =
      val detector = UniversalDetector()
      detector.handleData(bytes)
      detector.dataEnd()
      for
        name <- Option(detector.getDetectedCharset)
        encoding <- Encoding.of(likelier.getOrElse(name, name))
        if encoding != Encoding.utf8 && (encoding != windows || mayBeWindows)
        text <- strictly(encoding)
      yield text.copy(isGuess = true)

    private def mayBeWindows =
      labels.forall(_.exists(encoding => encoding.isOneByte || encoding == Encoding.utf8))

    private def unnamed =
      Some(as(windows, windows.decode(bytes)).copy(isGuess = true))

    private def as(encoding: Encoding, text: String, isWhole: Boolean = true) =
      val isAsSaid = labels.headOption.forall(_.contains(encoding))
      DecodedText(text, encoding.name, wasWronglyNamed = !isAsSaid || !isWhole)

  /** A short text of Windows has the letters of the Macintosh's, and no feed is in those. */
  private val likelier = Map("MACCYRILLIC" -> "windows-1251")

  private def windows: Encoding = Encoding.of("windows-1252").get

  /** This many bytes of valid UTF-8, two letters of Chinese, are hardly ever in another encoding.
    */
  private val plenty = 6

  /** Begins each change of letters in ISO-2022-JP, whose bytes are all ASCII. No XML has it. */
  private val escape = 0x1b.toByte
