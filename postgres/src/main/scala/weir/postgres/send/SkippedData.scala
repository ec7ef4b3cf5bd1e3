package weir.postgres.send

import java.nio.charset.StandardCharsets.ISO_8859_1
import weir.postgres.Piece

/** Looks through what is passed over as the data of a COPY that was refused: if the script has none, that is statements up to the
  * end of the next COPY's data.
  */
private[postgres] final class SkippedData:
  import SkippedData.*

  // The beginning of the line that is being read.
  private val line = new Array[Byte](LongestHead)
  private var length = 0
  private var number = 0L

  /** The line on which the next COPY stands, if it has come. */
  def next(data: Piece.CopyData): Option[Long] =
    if number == 0 then number = data.start.line
    var found = Option.empty[Long]
    var at = data.from
    val end = data.from + data.length
    while at < end && found.isEmpty do
      val byte = data.bytes(at)
      if byte == '\n' then
        if isCopy then found = Some(number)
        number += 1
        length = 0
      else if length < LongestHead then
        line(length) = byte
        length += 1
      at += 1
    found

  private def isCopy: Boolean =
    length > 4 && (line(0) | 0x20) == 'c' && Head
      .matcher(String(line, 0, length, ISO_8859_1))
      .find()

private object SkippedData:
  private val LongestHead = 1024
  private val Head = java.util.regex.Pattern.compile(
    "^copy\\s.*\\sfrom\\s+std(?:in|out)\\b[^;]*;",
    java.util.regex.Pattern.CASE_INSENSITIVE
  )
