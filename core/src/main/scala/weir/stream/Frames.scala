package weir.stream

import java.io.{EOFException, IOException}

/** Puts the length of each block before it. */
private[weir] final class FrameBytes(limitBytes: Int, lengthBytes: Int) extends Transcoder:
  private var made: Array[Byte] | Null = null
  private var number = 0L

  def add(piece: Any): Unit =
    val block = piece.asInstanceOf[Array[Byte]]
    number += 1
    if block.length > limitBytes then
      throw IOException(
        s"Bytes.framed: block $number has ${block.length} bytes, which is more than $limitBytes, " +
          "the limit."
      )
    val frame = new Array[Byte](lengthBytes + block.length)
    for i <- 0 until lengthBytes do frame(i) = (block.length >>> (8 * (lengthBytes - 1 - i))).toByte
    System.arraycopy(block, 0, frame, lengthBytes, block.length)
    made = frame

  def end(): Unit = ()

  def result(): Any =
    val frame = made
    made = null
    frame

/** Cuts bytes into the frames that `FrameBytes` makes. */
private[weir] final class UnframeBytes(limitBytes: Int, lengthBytes: Int) extends Transcoder:
  private var block = new Array[Byte](0)
  private var at = 0
  private var noMoreInput = false
  private var number = 1L

  // the frame that is being read
  private var length = 0L
  private var lengthRead = 0
  private var content: Array[Byte] | Null = null
  private var contentRead = 0

  def add(piece: Any): Unit =
    block = piece.asInstanceOf[Array[Byte]]
    at = 0

  def end(): Unit = noMoreInput = true

  def result(): Any =
    if content eq null then readLength()
    val into = content
    if into ne null then
      val count = math.min(into.length - contentRead, block.length - at)
      System.arraycopy(block, at, into, contentRead, count)
      at += count
      contentRead += count
      if contentRead == into.length then return endFrame(into)
    if noMoreInput && lengthRead > 0 then throw truncated()
    null

  private def readLength(): Unit =
    while lengthRead < lengthBytes && at < block.length do
      length = length << 8 | block(at) & 0xff
      lengthRead += 1
      at += 1
    if lengthRead == lengthBytes then
      if length > limitBytes then
        throw IOException(
          s"Bytes.unframed: frame $number has $length bytes, which is more than $limitBytes, the " +
            "limit."
        )
      content = new Array[Byte](length.toInt)

  private def endFrame(frame: Array[Byte]): Array[Byte] =
    number += 1
    length = 0
    lengthRead = 0
    content = null
    contentRead = 0
    frame

  private def truncated(): EOFException = EOFException(
    if content eq null then
      s"Bytes.unframed: the input ends within the length of frame $number: $lengthRead of " +
        s"$lengthBytes bytes are there."
    else
      s"Bytes.unframed: the input ends within frame $number: $contentRead of $length bytes are " +
        "there."
  )
