package weir.postgres.apply

import java.nio.charset.StandardCharsets.UTF_8
import weir.postgres.{Encodings, Piece, Position, ScriptException, Secrets, ServerError}

/** Turns a server's error about a statement into an error with a position in the file. */
private[postgres] object Placing:

  /** @param firstDataLine
    *   the first line of data, if the statement is a COPY; 0 if there is none
    * @param known
    *   secrets of earlier statements
    */
  def place(
      script: String,
      statement: Piece.Statement,
      firstDataLine: Long,
      encoding: String,
      known: Set[String],
      said: ServerError
  ): ScriptException =
    val error = hidden(statement, known, said)
    val position = error.copyRow match
      case Some(row) if statement.copies && firstDataLine > 0 =>
        Position(Position.UnknownOffset, firstDataLine + row - 1, 1)
      case _ =>
        error.character.fold(statement.start)(character =>
          positionOf(statement, character, encoding)
        )
    ScriptException(script, Some(position), problemOf(error), error.detail, error.hint, error)

  /** `error` without the secrets of its statement. */
  private def hidden(statement: Piece.Statement, known: Set[String], error: ServerError) =
    error.hiding(known ++ secretsOf(statement))

  /** The secrets in the statement; in a very long one only those near its beginning. */
  def secretsOf(statement: Piece.Statement): Set[String] =
    Secrets.values(String(statement.text, 0, statement.text.length.min(LongestLooked), UTF_8))

  private val LongestLooked = 256 << 10

  private def problemOf(error: ServerError): String =
    val column =
      if error.copyRow.nonEmpty then error.column.fold("")(name => s" (column $name)") else ""
    s"${error.severity}: ${error.problem}$column"

  /** The server counts characters of the statement's own encoding. */
  private def positionOf(statement: Piece.Statement, character: Int, encoding: String): Position =
    val charset = Encodings.charset(encoding)
    if charset == UTF_8 then statement.positionOf(character)
    else
      val text = String(statement.text, charset)
      val before = math.min(character - 1, text.codePointCount(0, text.length))
      val index = text.offsetByCodePoints(0, before)
      statement.positionOfByte(text.substring(0, index).getBytes(charset).length)
