package weir.io

import java.io.IOException
import java.nio.charset.{Charset, StandardCharsets}
import java.util.{Base64, HexFormat}
import scala.concurrent.duration.FiniteDuration
import weir.Stream
import weir.runtime.DurationText
import weir.stream.{DecodeText, EncodeText, InUnits, SplitLines, TranscodeStage}

/** Conversions between bytes and text, as functions from stream to stream. The pieces of both may
  * end anywhere, also within a character. If malformed input is an error, the results of the valid
  * input before it are emitted first.
  * {{{
  * val lines: Stream[String] = Text.lines(Text.utf8Decode(Bytes.gunzip(Stream.fromPath(path))))
  * }}}
  */
object Text:

  /** Decodes bytes in UTF-8, and drops a byte order mark at the beginning. **Fails** with an
    * `IOException` at malformed bytes.
    * {{{
    * val text: Task[String] = Stream.fromPath(path).through(Text.utf8Decode).mkString()
    * }}}
    */
  def utf8Decode: Stream[Array[Byte]] => Stream[String] =
    TranscodeStage.stream(_, () => DecodeText(StandardCharsets.UTF_8, withoutMark = true))

  /** Decodes bytes in `charset`, and keeps a byte order mark. **Fails** with an `IOException` at
    * malformed bytes.
    * {{{
    * val old: Stream[String] =
    *   Stream.fromPath(path).through(Text.decode(StandardCharsets.ISO_8859_1)).through(Text.lines)
    * }}}
    */
  def decode(charset: Charset): Stream[Array[Byte]] => Stream[String] =
    TranscodeStage.stream(_, () => DecodeText(charset, withoutMark = false))

  /** Encodes text in UTF-8. Half a surrogate pair is replaced by `?`, unless the other half is at
    * the beginning of the next piece.
    * {{{
    * val written: Task[Long] =
    *   Stream("id,name\n", "1,Ann\n").through(Text.utf8Encode).writeTo(path)
    * }}}
    */
  def utf8Encode: Stream[String] => Stream[Array[Byte]] = encode(StandardCharsets.UTF_8)

  /** Encodes text in `charset`. Characters that it cannot encode are replaced, as by
    * `String.getBytes`.
    * {{{
    * val bytes = Stream.emits(requests).through(Text.encode(StandardCharsets.UTF_16LE))
    * }}}
    */
  def encode(charset: Charset): Stream[String] => Stream[Array[Byte]] =
    TranscodeStage.stream(_, () => EncodeText(charset))

  /** Emits the lines of text, without the `\n`, `\r` or both that end them. The end of the text
    * ends the last line. A line ending at the very end of the text is not followed by an empty
    * line.
    * {{{
    * val lines: Task[List[String]] = Stream("a\nb", "c\n").through(Text.lines).toList // a, bc
    * }}}
    */
  def lines: Stream[String] => Stream[String] = linesOfAtMost(Int.MaxValue)

  /** As `lines`. **Fails** with an `IOException` at a line of more than `limitChars` characters. It
    * is for untrusted input, which could otherwise fill the memory with one line.
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

  /** Returns a duration as text for people, in the one or two units that matter: `850 ms`, `5 s`,
    * `12.4 s`, `8 min 41 s`, `2 d 1 h`. It is rounded; a negative one begins with `-`.
    * {{{
    * val text = Text.ofDuration(521.seconds) // 8 min 41 s
    * }}}
    */
  def ofDuration(duration: FiniteDuration): String = DurationText(duration)

  /** Encodes bytes in Base64, padded at the end.
    * {{{
    * val text: Task[String] = Stream.fromPath(path).through(Text.base64Encode).mkString()
    * }}}
    */
  def base64Encode: Stream[Array[Byte]] => Stream[String] =
    TranscodeStage.stream(_, () => InUnits.ofBytes(3)(Base64.getEncoder.encodeToString(_)))

  /** Decodes Base64. The padding may be missing. **Fails** with an `IOException` at anything that
    * is not Base64, white space included.
    * {{{
    * val bytes: Stream[Array[Byte]] = Stream("aGVs", "bG8=").through(Text.base64Decode)
    * }}}
    */
  def base64Decode: Stream[String] => Stream[Array[Byte]] =
    decodeUnits(4, "base64Decode", "Base64") {
      var padded = false
      text =>
        if padded then throw IllegalArgumentException("there is more text after the padding")
        padded = text.endsWith("=")
        Base64.getDecoder.decode(text)
    }

  /** Encodes each byte as two hexadecimal digits in lower case.
    * {{{
    * val sum: Task[String] = Bytes
    *   .digest(Stream.fromPath(path), "SHA-256")
    *   .flatMap(bytes => Stream(bytes).through(Text.hexEncode).mkString())
    * }}}
    */
  def hexEncode: Stream[Array[Byte]] => Stream[String] =
    _.map(HexFormat.of().formatHex(_)).filter(_.nonEmpty)

  /** Decodes pairs of hexadecimal digits. **Fails** with an `IOException` at any other character,
    * and if a digit is missing at the end.
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
