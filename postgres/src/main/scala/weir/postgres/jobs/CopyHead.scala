package weir.postgres.jobs

import java.util.Locale
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
    val tokens = Tokens(statement.text, statement.reading)
    tokens.next(): Unit // COPY
    val isBinary = tokens.next() && tokens.word == "BINARY"
    if isBinary then tokens.next(): Unit
    val table = tableName(tokens)
    CopyHead(table, if isBinary then Some("BINARY") else wholeOption(tokens))

  /** Reads a name: names with dots between them. */
  private def tableName(tokens: Tokens): String =
    val name = StringBuilder()
    var goesOn = tokens.isName
    while goesOn do
      name ++= tokens.raw.stripPrefix("U&").stripPrefix("u&")
      goesOn = tokens.next() && tokens.is('.') && tokens.next() && tokens.isName
      if goesOn then name += '.'
    name.toString

  /** Returns the first of `options` after FROM: a word, or a format in quotes. */
  private def wholeOption(tokens: Tokens): Option[String] =
    var whole = Option.empty[String]
    var afterFrom = false
    while
      if tokens.word == "FROM" then afterFrom = true
      else if afterFrom then whole = Some(tokens.value.toUpperCase(Locale.ROOT)).filter(options)
      whole.isEmpty && tokens.next()
    do ()
    whole
