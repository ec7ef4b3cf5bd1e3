package weir.postgres.apply

import java.util.Locale
import weir.postgres.Piece
import weir.postgres.split.Tokens

/** Looks for a COPY statement in the skipped data of a COPY that the server has refused: if the
  * script has no data there, statements up to the end of the next COPY's data are skipped. A line
  * within the quotes of a CSV value is always data.
  */
private[postgres] final class SkippedData(copy: Piece.Statement):
  import SkippedData.*

  private val quoting = Quoting.of(copy)
  private var quoted = false // whether a CSV value is open
  private var begunQuoted = false // whether it was where the line began
  private var escaped = false

  // The beginning of the line that is being read.
  private val line = new Array[Byte](LongestHead)
  private var length = 0
  private var number = 0L

  /** The line of the next COPY statement, if it has been found. */
  def next(data: Piece.CopyData): Option[Long] =
    if number == 0 then number = data.start.line
    var found = Option.empty[Long]
    var at = data.from
    val end = data.from + data.length
    while at < end && found.isEmpty do
      val byte = data.bytes(at)
      if quoting != null then follow(byte, quoting)
      if byte == '\n' then
        if !begunQuoted && isCopy then found = Some(number)
        begunQuoted = quoted
        number += 1
        length = 0
      else if length < LongestHead then
        line(length) = byte
        length += 1
      at += 1
    found

  private def follow(byte: Byte, quoting: Quoting): Unit =
    if escaped then escaped = false
    else if byte == quoting.quote then quoted = !quoted
    else if quoted then escaped = byte == quoting.escape

  /** Looks at the words only if the line begins with a C, or maybe with a comment. */
  private def isCopy: Boolean =
    var at = 0
    while at < length && (line(at) == ' ' || line(at) == '\t') do at += 1
    at < length && ((line(at) | 0x20) == 'c' || line(at) == '/') &&
    Tokens.isCopy(java.util.Arrays.copyOf(line, length))

private object SkippedData:
  /** The quote and the escape of CSV. A doubled quote closes and opens the value again. */
  private final class Quoting(val quote: Byte, val escape: Byte)

  private object Quoting:
    /** Null for data that is not CSV. */
    def of(copy: Piece.Statement): Quoting | Null =
      val tokens = Tokens(copy.text)
      var afterFrom = false
      var isCsv = false
      var quote = '"'.toByte
      var escape = Option.empty[Byte]
      var option = ""
      while tokens.next() do
        if tokens.word == "FROM" then afterFrom = true
        val value = tokens.value
        if afterFrom && value.equalsIgnoreCase("CSV") then isCsv = true
        if tokens.isString && value.length == 1 then
          if option == "quote" then quote = value(0).toByte
          if option == "escape" then escape = Some(value(0).toByte)
        if tokens.word != "AS" then option = tokens.name.toLowerCase(Locale.ROOT)
      if isCsv then Quoting(quote, escape.getOrElse(quote)) else null

  private val LongestHead = 1024
