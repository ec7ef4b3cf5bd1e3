package weir.cli.feeds.input

import java.nio.ByteBuffer
import java.nio.charset.{CharacterCodingException, Charset, StandardCharsets}
import scala.util.Try

/** The text of a file whose encoding is to be found out.
  *
  * @param isGuess
  *   whether nothing in the file says that it has this encoding
  */
private[input] final case class InputText(text: String, encoding: Charset, isGuess: Boolean)

private[input] object InputText:
  private val marks = Vector(
    Vector(0xef, 0xbb, 0xbf) -> StandardCharsets.UTF_8,
    Vector(0xfe, 0xff) -> StandardCharsets.UTF_16BE,
    Vector(0xff, 0xfe) -> StandardCharsets.UTF_16LE,
    Vector(0x00, 0x3c) -> StandardCharsets.UTF_16BE,
    Vector(0x3c, 0x00) -> StandardCharsets.UTF_16LE
  )

  private val western = Charset.forName("windows-1252")

  private val declaration = "(?s)\\s*<\\?xml[^>]*?encoding\\s*=\\s*[\"']([A-Za-z0-9._:-]+)[\"'].*".r

  /** What the byte order mark says, or the XML declaration, or UTF-8, whichever is first and fits
    * all bytes; or windows-1252, in which any bytes are some text.
    */
  def of(bytes: Array[Byte]): InputText =
    (marked(bytes) ++ declared(bytes) ++ Some(StandardCharsets.UTF_8)).iterator
      .flatMap(encoding => strictly(bytes, encoding).map(InputText(_, encoding, isGuess = false)))
      .nextOption()
      .getOrElse(InputText(String(bytes, western), western, isGuess = true))

  /** The text of `bytes`, without a byte order mark; none if they are not in `encoding`. */
  def strictly(bytes: Array[Byte], encoding: Charset): Option[String] =
    try Some(encoding.newDecoder.decode(ByteBuffer.wrap(bytes)).toString.stripPrefix("\uFEFF"))
    catch case _: CharacterCodingException => None

  /** What the first bytes say, which for UTF-16 may also be the first `<`. */
  def marked(bytes: Array[Byte]): Option[Charset] =
    marks.collectFirst:
      case (mark, encoding) if bytes.take(mark.size).map(_ & 0xff).sameElements(mark) => encoding

  private def declared(bytes: Array[Byte]): Option[Charset] =
    String(bytes.take(200), StandardCharsets.ISO_8859_1) match
      case declaration(name) => Try(Charset.forName(name)).toOption
      case _ => None
