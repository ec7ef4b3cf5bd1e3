package weir.postgres

import java.io.ByteArrayOutputStream
import weir.Stream

/** Pieces of a script that is written so that a line can be split without a lexer: a statement ends at a line that ends with a
  * semicolon, and the data of a COPY at `\.`.
  */
object TestScript:
  def pieces(script: Array[Byte], dataBytes: Int = 65536): List[Piece] =
    val found = List.newBuilder[Piece]
    val text = ByteArrayOutputStream()
    var start = Position.start
    var copyFrom = -1
    var line = 1L
    var at = 0
    while at < script.length do
      val newline = script.indexOf('\n'.toByte, at)
      val next = if newline < 0 then script.length else newline + 1
      val row = String(script, at, next - at, "ISO-8859-1").trim
      if copyFrom >= 0 then
        if row == "\\." then
          var from = copyFrom
          while from < at do
            val count = math.min(dataBytes, at - from)
            found += Piece.CopyData(script, from, count, start, from + count)
            from += count
          found += Piece.CopyEnd(Position(at, line, 1), next)
          copyFrom = -1
      else
        if text.size == 0 then start = Position(at, line, 1)
        text.write(script, at, next - at)
        if row.endsWith(";") then
          val whole = text.toByteArray
          val copies = row.toUpperCase.contains("FROM STDIN")
          val statement = whole.take(whole.lastIndexOf(';'.toByte))
          found += Piece.Statement(statement, copies, start, next)
          text.reset()
          if copies then
            copyFrom = next
            start = Position(next, line + 1, 1)
      line += 1
      at = next
    found.result()

  def stream(script: String): Stream[Piece] = Stream.fromIterable(pieces(script.getBytes("UTF-8")))
