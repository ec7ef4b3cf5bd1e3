package weir.cli.sql.report

import java.io.InputStream
import java.nio.charset.StandardCharsets.UTF_8

/** The line of a script around a place in it.
  *
  * @param before
  *   what of the line stands before the place
  * @param after
  *   what stands from the place on
  */
final case class SourceLine(before: String, after: String)

object SourceLine:
  /** More than any screen shows. */
  private val reachBytes = 8192

  /** The line that holds the byte at `offset`, or its part within 8 KB of that; `script` is read from its beginning. */
  def at(script: InputStream, offset: Long): SourceLine =
    val from = (offset - reachBytes).max(0)
    script.skipNBytes(from)
    val bytes = script.readNBytes((offset - from).toInt + reachBytes)
    val place = (offset - from).toInt.min(bytes.length)
    var start = place
    while start > 0 && !isNewline(bytes(start - 1)) do start -= 1
    if start == 0 && from > 0 then while start < place && isInside(bytes(start)) do start += 1
    var end = place
    while end < bytes.length && !isNewline(bytes(end)) do end += 1
    SourceLine(
      String(bytes, start, place - start, UTF_8).stripPrefix("\uFEFF"),
      String(bytes, place, end - place, UTF_8)
    )

  private def isNewline(byte: Byte): Boolean = byte == '\n' || byte == '\r'

  /** Whether it is not the first byte of its character. */
  private def isInside(byte: Byte): Boolean = (byte & 0xc0) == 0x80
