package weir.postgres

import java.io.InputStream
import java.nio.charset.StandardCharsets.UTF_8

/** The line of a script around a place in it, without secrets.
  *
  * @param before
  *   the part of the line before the position
  * @param after
  *   the part of the line from the position on
  */
final case class SourceLine(before: String, after: String)

object SourceLine:
  /** The number of bytes that are read on each side of a position: more than any screen shows. */
  private[postgres] val reachBytes = 8192
  private val blockBytes = 1 << 16

  /** Returns the line at `position`, or its part within 8 KB of the position; `script` is unpacked
    * and read from its beginning.
    */
  private[postgres] def at(script: InputStream, position: Position): SourceLine =
    if position.offset >= 0 then atOffset(script, position.offset) else line(script, position.line)

  /** Returns the line at the byte `place` of `bytes`.
    *
    * @param isCut
    *   true if `bytes` may begin in the middle of a line
    */
  private[postgres] def in(bytes: Array[Byte], place: Int, isCut: Boolean): SourceLine =
    var start = place
    while start > 0 && bytes(start - 1) != '\n' do start -= 1
    if start == 0 && isCut then while start < place && isInside(bytes(start)) do start += 1
    val end = endOfLine(bytes, place, bytes.length)
    masked(
      String(bytes, 0, start, UTF_8),
      String(bytes, start, place - start, UTF_8),
      String(bytes, place, end - place, UTF_8),
      String(bytes, end, bytes.length - end, UTF_8)
    )

  /** Returns the line without its secrets, which may only be recognized by the lines around it. A
    * place inside a secret is moved to the beginning of the secret.
    */
  private def masked(above: String, before: String, after: String, below: String): SourceLine =
    val text = above + before + after + below
    val hidden = Secrets.ranges(text)
    val (from, until) = (above.length, above.length + before.length + after.length)
    val place = from + before.length
    val at = hidden.find(r => r.start < place && place < r.end).fold(place)(_.start.max(from))
    val (left, right) = hidden.partition(_.end <= at)
    SourceLine(
      Secrets.cut(text, left, from, at).stripPrefix("\uFEFF"),
      Secrets.cut(text, right, at, until)
    )

  private def atOffset(script: InputStream, offset: Long): SourceLine =
    val from = (offset - reachBytes).max(0)
    script.skipNBytes(from)
    val bytes = script.readNBytes((offset - from).toInt + reachBytes)
    in(bytes, (offset - from).toInt.min(bytes.length), isCut = from > 0)

  /** Returns the beginning of the line `number`, which counts from 1. */
  private def line(script: InputStream, number: Long): SourceLine =
    val block = new Array[Byte](blockBytes)
    var left = number - 1
    var from = 0
    var until = 0
    while left > 0 && until >= 0 do
      if from >= until then
        from = 0
        until = script.read(block)
      while from < until && left > 0 do
        if block(from) == '\n' then left -= 1
        from += 1
    val bytes =
      java.util.Arrays.copyOfRange(block, from, until.max(from)) ++ script.readNBytes(reachBytes)
    val end = endOfLine(bytes, 0, bytes.length.min(reachBytes))
    SourceLine("", Secrets.mask(String(bytes, 0, end, UTF_8)))

  private def endOfLine(bytes: Array[Byte], from: Int, until: Int): Int =
    var end = from
    while end < until && bytes(end) != '\n' do end += 1
    if end > from && bytes(end - 1) == '\r' then end -= 1
    end

  /** Returns true if it is not the first byte of its character. */
  private def isInside(byte: Byte): Boolean = (byte & 0xc0) == 0x80
