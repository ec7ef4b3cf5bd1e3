package weir.postgres.jobs

import java.nio.charset.StandardCharsets.UTF_8
import weir.postgres.Piece
import weir.postgres.split.Tokens

/** The table and the options of a `COPY … FROM STDIN`.
  *
  * @param table
  *   its name as written in the statement; empty if it was not found
  * @param whole
  *   why its data cannot be cut at row ends, or must be in one transaction; none if it can
  */
private[postgres] final case class CopyHead(table: String, whole: Option[String])

private[postgres] object CopyHead:
  // CSV may have newlines within quotes, and binary data has no rows. The others apply to the file
  // as a whole, or allow multi-byte characters that contain the bytes of a backslash or a newline.
  private val options =
    Set("CSV", "BINARY", "FREEZE", "HEADER", "ENCODING", "ON_ERROR", "REJECT_LIMIT")

  def of(statement: Piece.Statement): CopyHead =
    val text = statement.text
    val tokens = Tokens(text)
    var whole = Option.empty[String]
    var afterFrom = false
    def note(): Unit =
      val word = unquoted(tokens.word)
      if word == "FROM" then afterFrom = true
      if whole.isEmpty && options(word) && (afterFrom || word == "BINARY" && tokens.isWord) then
        whole = Some(word)
    tokens.next(): Unit // COPY
    if tokens.next() && tokens.word == "BINARY" then
      note()
      tokens.next(): Unit
    val from = tokens.from
    var until = from
    // The name: names with dots between them. The next token is ( or FROM.
    var isName = true
    while isName do
      until = tokens.until
      isName = tokens.next() && tokens.word == "." && tokens.next()
    while
      note()
      tokens.next()
    do ()
    CopyHead(String(text, from, until - from, UTF_8), whole)

  /** A format may be in single or double quotes. */
  private def unquoted(word: String): String =
    if word.startsWith("'") || word.startsWith("\"") then
      word.substring(1, word.length - 1).toUpperCase(java.util.Locale.ROOT)
    else word
