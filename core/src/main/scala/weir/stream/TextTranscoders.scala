package weir.stream

import java.io.IOException
import java.lang.Character.isHighSurrogate
import java.nio.charset.{CharacterCodingException, Charset, CoderResult}
import java.nio.{ByteBuffer, CharBuffer}

/** Decodes bytes to text. With `withoutMark`, drops a byte order mark at the beginning. */
private[weir] final class DecodeText(charset: Charset, withoutMark: Boolean) extends Transcoder:
  private val decoder = charset.newDecoder()
  private var bytes = ByteBuffer.allocate(0)
  private val chars = CharBuffer.allocate(8192)
  private var atBeginning = withoutMark
  private var noMoreBytes = false
  private var flushed = false
  private var before = 0L
  private var malformed: CoderResult | Null = null

  def add(piece: Any): Unit = bytes = Undecoded.withBlock(bytes, piece)

  def end(): Unit = noMoreBytes = true

  def result(): Any =
    if malformed ne null then throw undecodable()
    val text = decoded()
    if text.isEmpty && (malformed ne null) then throw undecodable()
    if text.isEmpty then null else text

  private def decoded(): String =
    chars.clear(): Unit
    if !flushed then
      val from = bytes.position()
      val step = decoder.decode(bytes, chars, noMoreBytes)
      before += bytes.position() - from
      if step.isError then malformed = step
      else if noMoreBytes && step.isUnderflow then flushed = decoder.flush(chars).isUnderflow
    val text = chars.flip().toString
    if atBeginning && text.nonEmpty then
      atBeginning = false
      if text.charAt(0) == '\uFEFF' then
        // a block with the mark alone is not the end of the text
        val rest = text.substring(1)
        if rest.isEmpty && malformed.eq(null) && !flushed then decoded() else rest
      else text
    else text

  private def undecodable(): IOException =
    Undecoded.error(malformed.nn, charset, s"Text.decode: the bytes after the first $before")

/** The bytes that a decoder has not used yet. A character may be cut between two blocks. */
private[stream] object Undecoded:
  /** Returns the bytes that are `left`, with the array `block` behind them. */
  def withBlock(left: ByteBuffer, block: Any): ByteBuffer =
    val added = block.asInstanceOf[Array[Byte]]
    if !left.hasRemaining then ByteBuffer.wrap(added)
    else ByteBuffer.allocate(left.remaining + added.length).put(left).put(added).flip()

  /** Returns the error for the bytes at `place`, which the decoder has found to be `malformed`. */
  def error(malformed: CoderResult, charset: Charset, place: String): IOException =
    val cause =
      try
        malformed.throwException()
        null
      catch case error: CharacterCodingException => error
    IOException(
      s"$place are not valid $charset. Pass the charset of the text; ISO-8859-1 accepts any bytes.",
      cause
    )

/** Encodes text to bytes. A surrogate pair may be cut. A character that the charset cannot encode
  * is replaced, as by `String.getBytes`.
  */
private[weir] final class EncodeText(charset: Charset) extends Transcoder:
  private val encoder = charset
    .newEncoder()
    .onMalformedInput(java.nio.charset.CodingErrorAction.REPLACE)
    .onUnmappableCharacter(java.nio.charset.CodingErrorAction.REPLACE)
  private var kept = ""
  private var made: Array[Byte] | Null = null

  def add(piece: Any): Unit =
    val text = kept + piece
    val cut = text.nonEmpty && isHighSurrogate(text.charAt(text.length - 1))
    kept = if cut then text.substring(text.length - 1) else ""
    encode(if cut then text.substring(0, text.length - 1) else text, isLast = false)

  def end(): Unit = encode(kept, isLast = true)

  private def encode(text: String, isLast: Boolean): Unit =
    val chars = CharBuffer.wrap(text)
    val room = ((text.length + 2) * encoder.maxBytesPerChar.toDouble).toInt + 16
    val bytes = ByteBuffer.allocate(room)
    encoder.encode(chars, bytes, isLast): Unit
    if isLast then encoder.flush(bytes): Unit
    made = java.util.Arrays.copyOf(bytes.array, bytes.position())

  def result(): Any =
    val bytes = made
    made = null
    if (bytes eq null) || bytes.isEmpty then null else bytes

/** Splits text into lines. A line ends with `\n`, `\r` or both. */
private[weir] final class SplitLines(limitChars: Int) extends Transcoder:
  private var text = ""
  private var at = 0
  private val line = java.lang.StringBuilder()
  private var inLine = false
  private var afterReturn = false
  private var noMoreText = false
  private var number = 1L

  def add(piece: Any): Unit =
    text = piece.asInstanceOf[String]
    at = 0

  def end(): Unit =
    add("")
    noMoreText = true

  def result(): Any =
    if afterReturn && at < text.length then
      afterReturn = false
      if text.charAt(at) == '\n' then at += 1
    val from = at
    while at < text.length && text.charAt(at) != '\n' && text.charAt(at) != '\r' do at += 1
    if line.length.toLong + (at - from) > limitChars then
      throw IOException(
        s"Text.lines: line $number is longer than $limitChars characters, which is the limit."
      )
    line.append(text, from, at): Unit
    if at > from then inLine = true
    if at < text.length then
      afterReturn = text.charAt(at) == '\r'
      at += 1
      endLine()
    else if noMoreText && inLine then endLine()
    else null

  private def endLine(): String =
    val result = line.toString
    line.setLength(0)
    inLine = false
    number += 1
    result

/** Applies `f` to pieces whose length is a multiple of `unit`, and to a last one of any length. */
private[weir] final class InUnits[A](
    unit: Int,
    length: A => Int,
    join: (A, A) => A,
    slice: (A, Int, Int) => A,
    empty: A,
    f: A => Any
) extends Transcoder:
  private var kept = empty
  private var ready = empty

  def add(piece: Any): Unit =
    val all = join(kept, piece.asInstanceOf[A])
    val whole = length(all) / unit * unit
    ready = slice(all, 0, whole)
    kept = slice(all, whole, length(all))

  def end(): Unit =
    ready = kept
    kept = empty

  def result(): Any =
    if length(ready) == 0 then null
    else
      val piece = ready
      ready = empty
      f(piece)

private[weir] object InUnits:
  private val noBytes = new Array[Byte](0)

  def ofBytes(unit: Int)(f: Array[Byte] => Any): InUnits[Array[Byte]] =
    InUnits[Array[Byte]](
      unit,
      _.length,
      (a, b) => if a.isEmpty then b else a ++ b,
      java.util.Arrays.copyOfRange(_, _, _),
      noBytes,
      f
    )

  def ofChars(unit: Int)(f: String => Any): InUnits[String] =
    InUnits[String](unit, _.length, _ + _, _.substring(_, _), "", f)
