package weir.postgres.split

import java.io.ByteArrayOutputStream
import weir.postgres.Piece

/** The text of a statement as psql has it, which leaves out empty lines outside of quotes. */
private[postgres] object QueryText:
  /** Returns the text with its semicolon; of a statement that is not in memory only a part. */
  def of(statement: Piece.Statement): String =
    val text = statement.text
    val marks = statement.reading.masked(text)
    val scanner = TokenScanner()
    scanner.begin()
    scanner.hasEscapes = !statement.reading.standardStrings
    val kept = ByteArrayOutputStream(text.length)
    var at = 0
    while at < text.length do
      var end = at
      while end < text.length && text(end) != '\n' do end += 1
      if end < text.length then end += 1
      val isDropped = text(at) == '\n' && (scanner.unended eq null)
      if !isDropped then kept.write(text, at, end - at)
      while at < end do at = scanner.read(marks, text, at, end)
    val shown = statement.reading.text(kept.toByteArray)
    if statement.hasSemicolon then s"$shown;" else shown.stripSuffix("\n")
