package weir.stream

import java.io.IOException
import java.lang.Character.isHighSurrogate
import java.nio.charset.{Charset, CoderResult}
import java.nio.{ByteBuffer, CharBuffer}
import java.util.zip.{CRC32, Deflater, Inflater}
import weir.fiber.TaskFiber
import weir.{Outcome, Stream}

/** What makes pieces of text or bytes of other such pieces, which may be cut anywhere. It belongs
  * to one run of a stream.
  */
private[weir] abstract class Transcoder:
  /** Gives a piece; then `result` is asked until it returns null. */
  def add(piece: Any): Unit

  /** Tells that there are no more pieces; then `result` is asked until it returns null. */
  def end(): Unit

  /** The next piece, or null. **Fails** at its place where the input is malformed. */
  def result(): Any

  /** Gives back what it holds. */
  def close(): Unit = ()

/** The pieces that a transcoder makes. It is made by the first `next`. */
private[weir] final class TranscodeStage(upstream: Pull, make: () => Transcoder)
    extends Stage(upstream):
  private var transcoder: Transcoder | Null = null
  private var noMoreInput = false

  def next(fiber: TaskFiber): Any =
    if transcoder eq null then transcoder = make()
    val running = transcoder.nn
    var piece = running.result()
    while piece.asInstanceOf[AnyRef] eq null do
      if noMoreInput then return Pull.End
      val input = upstream.next(fiber)
      if Pull.isEnd(input) then
        noMoreInput = true
        running.end()
      else running.add(input)
      piece = running.result()
    piece

  override def close(fiber: TaskFiber, outcome: Outcome[Unit]): Unit =
    val running = transcoder
    Pull.both(if running ne null then running.close(), upstream.close(fiber, outcome))

private[weir] object TranscodeStage:
  def stream[A](upstream: Stream[Any], make: () => Transcoder): Stream[A] = new Stream[A]:
    private[weir] def open(): Pull = TranscodeStage(upstream.open(), make)

// ---- text ----

/** Bytes as text. With `withoutMark`, a byte order mark at the beginning is left out. */
private[weir] final class DecodeText(charset: Charset, withoutMark: Boolean) extends Transcoder:
  private val decoder = charset.newDecoder()
  private var bytes = ByteBuffer.allocate(0)
  private val chars = CharBuffer.allocate(8192)
  private var atBeginning = withoutMark
  private var noMoreBytes = false
  private var flushed = false
  private var before = 0L
  private var malformed: CoderResult | Null = null

  def add(piece: Any): Unit =
    val block = piece.asInstanceOf[Array[Byte]]
    bytes =
      if !bytes.hasRemaining then ByteBuffer.wrap(block)
      else ByteBuffer.allocate(bytes.remaining + block.length).put(bytes).put(block).flip()

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
    val cause =
      try
        malformed.nn.throwException()
        null
      catch case error: java.nio.charset.CharacterCodingException => error
    IOException(
      s"Text.decode: after $before bytes there come some that are no $charset. Give the charset " +
        "that they are written in; ISO-8859-1 takes any bytes.",
      cause
    )

/** Text as bytes. A surrogate pair may be cut; what a charset has no bytes for is replaced, as by
  * `String.getBytes`.
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

/** The lines of text. A line ends with `\n`, `\r` or both. */
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

// ---- bytes as text ----

/** Pieces whose length is a multiple of `unit`, and a last one of any length, through `f`. */
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

// ---- compression ----

/** Bytes compressed with `deflater`, between a header and what `trailer` makes. */
private[weir] final class DeflateBytes(
    deflater: Deflater,
    header: Array[Byte],
    update: Array[Byte] => Unit,
    trailer: () => Array[Byte]
) extends Transcoder:
  private val buffer = new Array[Byte](DeflateBytes.bufferBytes)
  private var begun = false
  private var ended = false

  def add(piece: Any): Unit =
    val block = piece.asInstanceOf[Array[Byte]]
    update(block)
    deflater.setInput(block)

  def end(): Unit = deflater.finish()

  def result(): Any =
    if !begun && header.nonEmpty then
      begun = true
      header
    else
      val count = deflater.deflate(buffer)
      if count > 0 then java.util.Arrays.copyOf(buffer, count)
      else if deflater.finished && !ended then
        ended = true
        val last = trailer()
        if last.isEmpty then null else last
      else null

  override def close(): Unit = deflater.end()

private[weir] object DeflateBytes:
  private val bufferBytes = 16384
  private val none = new Array[Byte](0)

  def zlib(level: Int): DeflateBytes = DeflateBytes(Deflater(level), none, _ => (), () => none)

  def gzip(level: Int): DeflateBytes =
    val crc = CRC32()
    val deflater = Deflater(level, true)
    def trailer(): Array[Byte] =
      val bytes = ByteBuffer.allocate(8).order(java.nio.ByteOrder.LITTLE_ENDIAN)
      bytes.putInt(crc.getValue.toInt).putInt(deflater.getBytesRead.toInt).array
    DeflateBytes(deflater, gzipHeader, crc.update(_), () => trailer())

  /** No name, no time, an unknown system: RFC 1952, 2.3. */
  private def gzipHeader: Array[Byte] = Array[Byte](0x1f, 0x8b.toByte, 8, 0, 0, 0, 0, 0, 0, -1)

/** The bytes of a zlib stream, RFC 1950. */
private[weir] final class InflateBytes extends Transcoder:
  private val inflater = Inflater()
  private val buffer = new Array[Byte](16384)
  private var noMoreBytes = false

  def add(piece: Any): Unit =
    val block = piece.asInstanceOf[Array[Byte]]
    if inflater.finished && block.nonEmpty then throw InflateBytes.trailing("Bytes.inflate")
    inflater.setInput(block)
  def end(): Unit = noMoreBytes = true

  def result(): Any =
    val count = InflateBytes.inflate(inflater, buffer, "Bytes.inflate")
    if count > 0 then java.util.Arrays.copyOf(buffer, count)
    else
      if inflater.finished && inflater.getRemaining > 0 then
        throw InflateBytes.trailing("Bytes.inflate")
      if noMoreBytes && !inflater.finished then throw InflateBytes.cut("Bytes.inflate")
      null

  override def close(): Unit = inflater.end()

private[weir] object InflateBytes:
  def inflate(inflater: Inflater, buffer: Array[Byte], name: String): Int =
    try
      val count = inflater.inflate(buffer)
      if inflater.needsDictionary then
        throw IOException(s"$name: the bytes need a dictionary, which is not supported.")
      count
    catch
      case error: java.util.zip.DataFormatException =>
        throw IOException(s"$name: the bytes are damaged: ${error.getMessage}.", error)

  def cut(name: String): IOException =
    java.io.EOFException(s"$name: the bytes end before their end: they are cut.")

  def trailing(name: String): IOException =
    IOException(s"$name: there are more bytes after the end of the compressed ones.")

/** The bytes of gzip members, one after the other, RFC 1952. */
private[weir] final class GunzipBytes extends Transcoder:
  import GunzipBytes.*

  private val inflater = Inflater(true)
  private val crc = CRC32()
  private val buffer = new Array[Byte](16384)
  private var input = new Array[Byte](0)
  private var at = 0
  private var noMoreBytes = false
  private var state = State.Header
  private var members = 0L

  def add(piece: Any): Unit =
    val block = piece.asInstanceOf[Array[Byte]]
    input = if at == input.length then block else input.drop(at) ++ block
    at = 0
  def end(): Unit = noMoreBytes = true

  private def left: Int = input.length - at

  def result(): Any =
    var made: Any = null
    var goesOn = true
    while goesOn do
      val before = state
      state match
        case State.Header => header()
        case State.Body => made = body()
        case State.Trailer => trailer()
        case State.Padding =>
          while at < input.length do
            if input(at) != 0 then throw InflateBytes.trailing(name)
            at += 1
      goesOn = (made.asInstanceOf[AnyRef] eq null) && state != before
    if (made.asInstanceOf[AnyRef] eq null) && noMoreBytes then checkEnd()
    made

  private def checkEnd(): Unit = state match
    case State.Padding => ()
    case State.Header if members > 0 && left == 0 => ()
    case _ => throw InflateBytes.cut(name)

  private def header(): Unit =
    if members > 0 && left > 0 && input(at) == 0 then state = State.Padding
    else
      val length = headerLength
      if length > 0 then
        at += length
        inflater.reset()
        crc.reset()
        state = State.Body

  /** How many bytes the header has; -1 if they are not all there. */
  private def headerLength: Int =
    def isOther(index: Int, byte: Int) = left > index && (input(at + index) & 0xff) != byte
    if isOther(0, 0x1f) || isOther(1, 0x8b) || isOther(2, 8) then
      throw IOException(
        if members == 0 then s"$name: the bytes do not begin as gzip does."
        else s"$name: after member $members there come bytes that do not begin as gzip does."
      )
    if left < 10 then -1
    else
      val flags = input(at + 3)
      var length = 10
      if (flags & 4) != 0 then
        length =
          if left < 12 then -1
          else 12 + (input(at + 10) & 0xff) + ((input(at + 11) & 0xff) << 8)
      if (flags & 8) != 0 then length = afterZero(length)
      if (flags & 16) != 0 then length = afterZero(length)
      if (flags & 2) != 0 && length >= 0 then length += 2
      if length > left then -1
      else if length < 0 && left > maxHeaderBytes then
        throw IOException(s"$name: the header of a member is longer than $maxHeaderBytes bytes.")
      else length

  private def afterZero(from: Int): Int =
    if from < 0 then from
    else
      val zero = if from >= left then -1 else input.indexOf(0.toByte, at + from)
      if zero < 0 then -1 else zero - at + 1

  private def body(): Any =
    inflater.setInput(input, at, left)
    val count = InflateBytes.inflate(inflater, buffer, name)
    at = input.length - inflater.getRemaining
    if inflater.finished then state = State.Trailer
    if count == 0 then null
    else
      crc.update(buffer, 0, count)
      java.util.Arrays.copyOf(buffer, count)

  private def trailer(): Unit =
    if left >= 8 then
      val bytes = ByteBuffer.wrap(input, at, 8).order(java.nio.ByteOrder.LITTLE_ENDIAN)
      if bytes.getInt != crc.getValue.toInt then
        throw IOException(s"$name: the bytes are damaged: their checksum is another one.")
      if bytes.getInt != inflater.getBytesWritten.toInt then
        throw IOException(s"$name: the bytes are damaged: their length is another one.")
      at += 8
      members += 1
      state = State.Header

  override def close(): Unit = inflater.end()

private[weir] object GunzipBytes:
  private val name = "Bytes.gunzip"
  private val maxHeaderBytes = 1 << 17

  enum State:
    case Header, Body, Trailer, Padding
