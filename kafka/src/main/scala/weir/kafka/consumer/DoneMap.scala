package weir.kafka.consumer

import java.io.ByteArrayOutputStream
import java.util.Base64
import scala.util.Try

/** The offsets that are done beyond a committed one: all from `from` up to `until`, except those of
  * `undone`.
  *
  * It travels in the metadata of the commit, as text:
  * {{{
  * weir1r BASE64   lengths of runs, as variable-length numbers: undone, done, undone, done …
  * weir1b BASE64   a bit for each offset, 1 if it is done
  * }}}
  * from the committed offset on. The shorter one is taken. If neither fits, the map ends earlier:
  * the one that covers more is taken, and offsets beyond it count as undone.
  *
  * @param from
  *   the committed offset. The map says nothing about the offsets before it
  * @param undone
  *   ranges, without their ends, ascending
  */
private[kafka] final case class DoneMap(from: Long, undone: Vector[(Long, Long)], until: Long)

private[kafka] object DoneMap:
  final case class Encoded(text: String, isWhole: Boolean)

  private val runs = "weir1r"
  private val bits = "weir1b"

  /** More undone offsets than any commit of this has: the text is somebody else's. */
  private val mostUndone = 1L << 20

  /** Encodes the map from `from` to `until` in at most `limitBytes`. The text is empty if not even
    * the first run fits.
    *
    * @param undoneFrom
    *   the first undone offset from an offset on, or `Long.MaxValue`
    */
  def encode(from: Long, until: Long, undoneFrom: Long => Long, limitBytes: Int): Encoded =
    val room = math.max(0, (limitBytes - runs.length) / 4 * 3)
    val (runBytes, runsUntil) = encodeRuns(from, until, undoneFrom, room)
    val (bitBytes, bitsUntil) =
      if runsUntil >= until && runBytes.length <= (until - from) / 8 then (runBytes, from)
      else encodeBits(from, until, undoneFrom, room)
    val base64 = Base64.getEncoder.withoutPadding
    val reached = math.max(runsUntil, bitsUntil)
    val text =
      if reached == from then ""
      else if runsUntil < bitsUntil || (runsUntil == bitsUntil && bitBytes.length < runBytes.length)
      then bits + base64.encodeToString(bitBytes)
      else runs + base64.encodeToString(runBytes)
    Encoded(text, reached >= until)

  /** Returns the bytes, and the offset up to which they cover. */
  private def encodeRuns(
      from: Long,
      until: Long,
      undoneFrom: Long => Long,
      room: Int
  ): (Array[Byte], Long) =
    val out = ByteArrayOutputStream()
    val pair = ByteArrayOutputStream()
    var at = from
    var fits = true
    while fits && at < until do
      var doneAt = at
      while doneAt < until && undoneFrom(doneAt) == doneAt do doneAt += 1
      val undoneAt = math.min(undoneFrom(doneAt), until)
      pair.reset()
      writeNumber(pair, doneAt - at)
      writeNumber(pair, undoneAt - doneAt)
      fits = out.size + pair.size <= room
      if fits then
        pair.writeTo(out)
        at = undoneAt
    (out.toByteArray, at)

  private def encodeBits(
      from: Long,
      until: Long,
      undoneFrom: Long => Long,
      room: Int
  ): (Array[Byte], Long) =
    val end = math.min(until, from + room * 8L)
    val bytes = new Array[Byte](((end - from + 7) / 8).toInt)
    java.util.Arrays.fill(bytes, -1: Byte)
    def clear(index: Int): Unit =
      bytes(index / 8) = (bytes(index / 8) & ~(1 << (index % 8))).toByte
    var undone = undoneFrom(from)
    while undone < end do
      clear((undone - from).toInt)
      undone = undoneFrom(undone + 1)
    for index <- (end - from).toInt until bytes.length * 8 do clear(index)
    (bytes, end)

  /** Decodes the text; none if it does not have this form, since it is another program's or empty.
    */
  def decode(from: Long, text: String): Option[DoneMap] =
    def bytes = Base64.getDecoder.decode(text.substring(runs.length))
    if text.startsWith(runs) then Try(decodeRuns(from, bytes)).toOption.flatten
    else if text.startsWith(bits) then Try(decodeBits(from, bytes)).toOption.flatten
    else None

  private def decodeRuns(from: Long, bytes: Array[Byte]): Option[DoneMap] =
    val undone = Vector.newBuilder[(Long, Long)]
    var total = 0L
    var at = from
    var index = 0
    def number(): Long =
      var value = 0L
      var shift = 0
      while bytes(index) < 0 do
        value |= (bytes(index) & 0x7fL) << shift
        shift += 7
        index += 1
      value |= bytes(index).toLong << shift
      index += 1
      require(shift < 63 && value >= 0)
      value
    while index < bytes.length do
      val length = number()
      if length > 0 then undone += ((at, at + length))
      total += length
      at += length + number()
      require(at >= from)
    Option.when(total <= mostUndone && at > from)(DoneMap(from, undone.result(), at))

  private def decodeBits(from: Long, bytes: Array[Byte]): Option[DoneMap] =
    val undone = Vector.newBuilder[(Long, Long)]
    var at = 0
    var until = 0
    val end = bytes.length * 8
    def isDone(index: Int) = (bytes(index / 8) & (1 << (index % 8))) != 0
    while at < end do
      val start = at
      while at < end && !isDone(at) do at += 1
      if at < end then
        if at > start then undone += ((from + start, from + at))
        while at < end && isDone(at) do at += 1
        until = at
    Option.when(until > 0)(DoneMap(from, undone.result(), from + until))

  private def writeNumber(out: ByteArrayOutputStream, number: Long): Unit =
    var rest = number
    while rest >= 0x80 do
      out.write(((rest & 0x7f) | 0x80).toInt)
      rest >>>= 7
    out.write(rest.toInt)
