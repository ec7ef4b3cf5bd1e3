package weir

import java.io.IOException
import java.nio.charset.{Charset, StandardCharsets}
import java.util.{Base64, HexFormat}
import weir.stream.{DecodeText, EncodeText, InUnits, SplitLines, TranscodeStage}

/** Text of bytes and bytes of text, as functions from stream to stream. The pieces of both may be
  * cut anywhere, within a character as well. Where malformed input is an error, it comes in its
  * place: after what was right before it.
  * {{{
  * val lines: Stream[String] = Text.lines(Text.utf8Decode(Bytes.gunzip(Stream.fromPath(path))))
  * }}}
  */
object Text:

  /** The text of bytes in UTF-8, without the byte order mark that it may begin with. **Fails** with
    * an `IOException` where bytes are malformed.
    * {{{
    * val text: Task[String] = Stream.fromPath(path).through(Text.utf8Decode).mkString()
    * }}}
    */
  def utf8Decode: Stream[Array[Byte]] => Stream[String] =
    TranscodeStage.stream(_, () => DecodeText(StandardCharsets.UTF_8, withoutMark = true))

  /** The text of bytes in `charset`; a byte order mark stays. **Fails** with an `IOException` where
    * bytes are malformed.
    * {{{
    * val old: Stream[String] =
    *   Stream.fromPath(path).through(Text.decode(StandardCharsets.ISO_8859_1)).through(Text.lines)
    * }}}
    */
  def decode(charset: Charset): Stream[Array[Byte]] => Stream[String] =
    TranscodeStage.stream(_, () => DecodeText(charset, withoutMark = false))

  /** The bytes of text in UTF-8. Half a surrogate pair is replaced by `?`, unless the other half is
    * at the beginning of the next piece.
    * {{{
    * val written: Task[Long] =
    *   Stream("id,name\n", "1,Ann\n").through(Text.utf8Encode).writeTo(path)
    * }}}
    */
  def utf8Encode: Stream[String] => Stream[Array[Byte]] = encode(StandardCharsets.UTF_8)

  /** The bytes of text in `charset`; what that has no bytes for is replaced, as by
    * `String.getBytes`.
    * {{{
    * val bytes = Stream.emits(requests).through(Text.encode(StandardCharsets.UTF_16LE))
    * }}}
    */
  def encode(charset: Charset): Stream[String] => Stream[Array[Byte]] =
    TranscodeStage.stream(_, () => EncodeText(charset))

  /** The lines of text, without the `\n`, `\r` or both that end them. The end of the text ends the
    * last line; nothing comes after the last end of a line.
    * {{{
    * val lines: Task[List[String]] = Stream("a\nb", "c\n").through(Text.lines).toList // a, bc
    * }}}
    */
  def lines: Stream[String] => Stream[String] = linesOfAtMost(Int.MaxValue)

  /** As `lines`. **Fails** with an `IOException` at a line of more than `limitChars` characters,
    * which would take memory as it comes: for input from others.
    * {{{
    * val requests: Stream[String] =
    *   Text.linesOfAtMost(8192)(Text.utf8Decode(Stream.fromPath(path)))
    * }}}
    */
  def linesOfAtMost(limitChars: Int): Stream[String] => Stream[String] =
    require(
      limitChars >= 1,
      s"Text.linesOfAtMost: the limit was $limitChars. It must be at least 1."
    )
    TranscodeStage.stream(_, () => SplitLines(limitChars))

  /** Bytes in Base64, padded at the end.
    * {{{
    * val text: Task[String] = Stream.fromPath(path).through(Text.base64Encode).mkString()
    * }}}
    */
  def base64Encode: Stream[Array[Byte]] => Stream[String] =
    TranscodeStage.stream(_, () => InUnits.ofBytes(3)(Base64.getEncoder.encodeToString(_)))

  /** The bytes that Base64 stands for; the padding may be missing. **Fails** with an `IOException`
    * at what is no Base64, white space too.
    * {{{
    * val bytes: Stream[Array[Byte]] = Stream("aGVs", "bG8=").through(Text.base64Decode)
    * }}}
    */
  def base64Decode: Stream[String] => Stream[Array[Byte]] =
    decodeUnits(4, "base64Decode", "Base64") {
      var padded = false
      text =>
        if padded then throw IllegalArgumentException("there is more of it after the padding")
        padded = text.endsWith("=")
        Base64.getDecoder.decode(text)
    }

  /** Bytes as two hexadecimal digits each, the letters small.
    * {{{
    * val sum: Task[String] = Bytes
    *   .digest(Stream.fromPath(path), "SHA-256")
    *   .flatMap(bytes => Stream(bytes).through(Text.hexEncode).mkString())
    * }}}
    */
  def hexEncode: Stream[Array[Byte]] => Stream[String] =
    _.map(HexFormat.of().formatHex(_)).filter(_.nonEmpty)

  /** The bytes that pairs of hexadecimal digits stand for. **Fails** with an `IOException` at what
    * is none, and where a digit is missing at the end.
    * {{{
    * val bytes: Stream[Array[Byte]] = Stream("cafe", "babe").through(Text.hexDecode)
    * }}}
    */
  def hexDecode: Stream[String] => Stream[Array[Byte]] =
    decodeUnits(2, "hexDecode", "hexadecimal")(HexFormat.of().parseHex(_))

  private def decodeUnits(unit: Int, name: String, what: String)(
      begin: => String => Array[Byte]
  ): Stream[String] => Stream[Array[Byte]] = TranscodeStage.stream(
    _,
    () =>
      val decode = begin
      InUnits.ofChars(unit)(text =>
        try decode(text)
        catch
          case error: IllegalArgumentException =>
            throw IOException(s"Text.$name: the text is not $what: ${error.getMessage}", error)
      )
  )
