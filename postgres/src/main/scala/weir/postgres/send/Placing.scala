package weir.postgres.send

import weir.postgres.{Encodings, Piece, Position, ScriptException, ServerError}

/** From what a server says about a statement to a place in the file. */
private[postgres] object Placing:

  /** @param firstDataLine
    *   of the COPY that it is; 0 if there is no data
    */
  def place(
      script: String,
      statement: Piece.Statement,
      firstDataLine: Long,
      encoding: String,
      error: ServerError
  ): ScriptException =
    val position = error.copyRow match
      case Some(row) if statement.copies && firstDataLine > 0 =>
        Position(Position.UnknownOffset, firstDataLine + row - 1, 1)
      case _ =>
        error.character.fold(statement.start)(character =>
          positionOf(statement, character - 1, encoding)
        )
    ScriptException(script, Some(position), problemOf(error), error.detail, error.hint, error)

  private def problemOf(error: ServerError): String =
    val column =
      if error.copyRow.nonEmpty then error.column.fold("")(name => s" (column $name)") else ""
    s"${error.severity}: ${error.problem}$column"

  private def positionOf(statement: Piece.Statement, character: Int, encoding: String): Position =
    val text = String(statement.text, Encodings.charset(encoding))
    val index = text.offsetByCodePoints(0, math.min(character, text.codePointCount(0, text.length)))
    after(statement, text.substring(0, index), encoding)

  /** Where a byte of a statement stands. */
  def ofByte(statement: Piece.Statement, byte: Int, encoding: String): Position =
    after(statement, String(statement.text, 0, byte, Encodings.charset(encoding)), encoding)

  private def after(statement: Piece.Statement, before: String, encoding: String): Position =
    val lastBreak = before.lastIndexOf('\n')
    val column = before.codePointCount(lastBreak + 1, before.length)
    Position(
      statement.start.offset + before.getBytes(Encodings.charset(encoding)).length,
      statement.start.line + before.count(_ == '\n'),
      if lastBreak < 0 then statement.start.column + column else column + 1L
    )
