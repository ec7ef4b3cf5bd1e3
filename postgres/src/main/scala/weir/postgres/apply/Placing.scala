package weir.postgres.apply

import java.nio.charset.Charset
import java.nio.charset.StandardCharsets.ISO_8859_1
import weir.postgres.{Encodings, Extended, Piece, Position, ScriptException, Secrets, ServerError}
import weir.postgres.psql.{CommandProblem, Variables}
import weir.postgres.split.Characters

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
    val error = hidden(statement, Encodings.charset(encoding), known, said)
    val position = error.copyRow match
      case Some(row) if statement.copies && firstDataLine > 0 =>
        Position(Position.UnknownOffset, firstDataLine + row - 1, 1)
      case _ =>
        error.character.fold(statement.start)(character =>
          statement.positionOf(character, Characters.of(encoding))
        )
    ScriptException(script, Some(position), problemOf(error), error.detail, error.hint, error)

  /** Returns the problem of a command as an error of a script. */
  def refusal(problem: CommandProblem, script: String, at: Position): ScriptException =
    ScriptException(
      script,
      Some(at),
      Variables.text(problem.problem),
      hint = Some(problem.hint)
    )

  /** `error` without the secrets of its statement. */
  private def hidden(
      statement: Piece.Statement,
      charset: Charset,
      known: Set[String],
      error: ServerError
  ) = error.hiding(known ++ secretsOf(statement, charset))

  /** The secrets in the statement, in a very long one only those near its beginning, and the values
    * of its parameters, any of which may be one.
    */
  def secretsOf(statement: Piece.Statement, charset: Charset): Set[String] =
    val text = String(statement.text, 0, statement.text.length.min(LongestLooked), charset)
    val bound = Extended.valuesOf(statement.extended).filter(_.nonEmpty)
    Secrets.values(text) ++ bound.map(value => String(value.getBytes(ISO_8859_1), charset))

  private val LongestLooked = 256 << 10

  private def problemOf(error: ServerError): String =
    val column =
      if error.copyRow.nonEmpty then error.column.fold("")(name => s" (column $name)") else ""
    s"${error.severity}: ${error.problem}$column"
