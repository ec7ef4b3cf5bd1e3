package weir.feeds.encoding

import java.nio.{ByteBuffer, CharBuffer}
import java.nio.charset.{CharacterCodingException, Charset, CodingErrorAction, StandardCharsets}
import java.util.Locale
import scala.util.Try

/** Decodes the bytes of one encoding of the WHATWG Encoding Standard, as browsers do.
  *
  * @param name
  *   its name in the standard
  */
private[feeds] sealed abstract class Encoding(val name: String):
  /** Returns the text of `bytes`, with U+FFFD for bytes without a meaning. */
  def decode(bytes: Array[Byte]): String

  /** Returns the text of `bytes`; none if some of them mean nothing. */
  def strictly(bytes: Array[Byte]): Option[String]

  /** Returns true if each byte is a character. Nearly all bytes mean something in such an encoding,
    * so that they decode shows nothing.
    */
  def isOneByte: Boolean

private[feeds] object Encoding:
  val utf8: Encoding = OfCharset("UTF-8", StandardCharsets.UTF_8)

  /** Returns the encoding that `label` means: by the standard's table, else by the names that the
    * JDK knows. None if it is unknown, browsers refuse it, or text in it does not begin as ASCII
    * does: then the label would have been read in another encoding than its own.
    */
  def of(label: String): Option[Encoding] =
    val key = label.trim.toLowerCase(Locale.ROOT)
    EncodingLabels.known.get(key) match
      case Some(found) => found
      case None => Try(Charset.forName(key)).toOption.filter(isLikeAscii).map(named)

  /** An encoding of several bytes for a character, which `charset` decodes.
    *
    * @param changes
    *   characters that browsers decode otherwise than the JDK does
    */
  final class OfCharset(name: String, charset: Charset, changes: Map[Char, Char] = Map.empty)
      extends Encoding(name):
    /** An ASCII character after a byte that begins a longer one stays: it may be markup. */
    def decode(bytes: Array[Byte]): String =
      val decoder = strict
      val in = ByteBuffer.wrap(bytes)
      val out = CharBuffer.allocate((bytes.length * decoder.maxCharsPerByte.toDouble).toInt + 1)
      var result = decoder.decode(in, out, true)
      while result.isError do
        out.put(replacement)
        val isBeforeAscii = result.length > 1 && bytes(in.position() + 1) >= 0
        in.position(in.position() + (if isBeforeAscii then 1 else result.length))
        result = decoder.decode(in, out, true)
      decoder.flush(out)
      changed(out.flip().toString)

    def strictly(bytes: Array[Byte]): Option[String] =
      try Some(changed(strict.decode(ByteBuffer.wrap(bytes)).toString))
      catch case _: CharacterCodingException => None

    private def strict = charset
      .newDecoder()
      .onMalformedInput(CodingErrorAction.REPORT)
      .onUnmappableCharacter(CodingErrorAction.REPORT)

    def isOneByte: Boolean = false

    private def changed(text: String) =
      if changes.isEmpty then text else text.map(char => changes.getOrElse(char, char))

  /** An encoding of one byte for a character.
    *
    * @param upper
    *   the characters of the bytes from 0x80 on; U+FFFD for a byte without a meaning
    */
  final class OneByte(name: String, upper: String) extends Encoding(name):
    require(upper.length == 128, s"$name: ${upper.length} characters for the bytes from 0x80 on")

    def decode(bytes: Array[Byte]): String =
      val chars = Array.ofDim[Char](bytes.length)
      for i <- bytes.indices do
        chars(i) = if bytes(i) >= 0 then bytes(i).toChar else upper(bytes(i) & 0x7f)
      String(chars)

    def strictly(bytes: Array[Byte]): Option[String] =
      Some(decode(bytes)).filterNot(_.contains(replacement))

    def isOneByte: Boolean = true

  object OneByte:
    /** Returns an encoding that decodes as `charset`, except for `changes`. Among the bytes for
      * which the JDK has no meaning, browsers decode 0x80 to 0x9F as control characters.
      */
    def of(name: String, charset: Charset, changes: (Int, Char)*): OneByte =
      val upper = (0x80 to 0xff).map: byte =>
        changes
          .collectFirst { case (`byte`, char) => char }
          .getOrElse:
            String(Array(byte.toByte), charset).head match
              case `replacement` if byte < 0xa0 => byte.toChar
              case char => char
      OneByte(name, upper.mkString)

  private val replacement = '\uFFFD'

  private def named(charset: Charset): Encoding =
    if charset == StandardCharsets.UTF_8 then utf8
    else if charset.newDecoder.maxCharsPerByte == 1 && decodesEachByte(charset) then
      OneByte.of(charset.name, charset)
    else OfCharset(charset.name, charset)

  private def decodesEachByte(charset: Charset) =
    (0x80 to 0xff).forall(byte => String(Array(byte.toByte, byte.toByte), charset).length == 2)

  private def isLikeAscii(charset: Charset) =
    val start = "<?xml version='1.0'?>"
    String(start.getBytes(StandardCharsets.US_ASCII), charset) == start
