package weir.stream

import java.io.IOException
import java.nio.ByteBuffer
import java.util.zip.{CRC32, Deflater, Inflater}

/** Compresses bytes with `deflater`, between a header and the result of `trailer`. */
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

/** Decompresses a zlib stream, RFC 1950. */
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
        throw IOException(s"$name: the input needs a preset dictionary, which is not supported.")
      count
    catch
      case error: java.util.zip.DataFormatException =>
        throw IOException(s"$name: the input is damaged: ${error.getMessage}.", error)

  def cut(name: String): IOException =
    java.io.EOFException(s"$name: the input is truncated: it ends within the compressed data.")

  def trailing(name: String): IOException =
    IOException(s"$name: there are more bytes after the end of the compressed data.")

/** Decompresses gzip members, one after the other, RFC 1952. */
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

  /** Returns the number of bytes of the header, or -1 if they are not all there. */
  private def headerLength: Int =
    def isOther(index: Int, byte: Int) = left > index && (input(at + index) & 0xff) != byte
    if isOther(0, 0x1f) || isOther(1, 0x8b) || isOther(2, 8) then
      throw IOException(
        if members == 0 then s"$name: the input does not begin with a header of gzip."
        else s"$name: the bytes after member $members do not begin with a header of gzip."
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
        throw IOException(s"$name: the input is damaged: its checksum does not match.")
      if bytes.getInt != inflater.getBytesWritten.toInt then
        throw IOException(s"$name: the input is damaged: its length does not match.")
      at += 8
      members += 1
      state = State.Header

  override def close(): Unit = inflater.end()

private[weir] object GunzipBytes:
  private val name = "Bytes.gunzip"
  private val maxHeaderBytes = 1 << 17

  enum State:
    case Header, Body, Trailer, Padding
