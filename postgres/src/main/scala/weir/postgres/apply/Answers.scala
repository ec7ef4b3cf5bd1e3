package weir.postgres.apply

import java.nio.charset.StandardCharsets.ISO_8859_1
import weir.postgres.{Piece, Session}
import weir.postgres.psql.{CommandProblem, Variables}
import weir.postgres.split.Tokens

/** Carries out `\gset` and `\gexec` with the rows of the statement before them. */
private[apply] final class Answers(session: Session, variables: Variables, last: LastResult):

  /** Sets a variable for each column of the row, and returns psql's warnings. Those that psql sets
    * itself behind each statement keep what it has set.
    *
    * **Fails** with a `CommandProblem` if there is not one row, or a column has no name for a
    * variable.
    */
  def set(prefix: String): List[String] =
    val kept = session.takeRows()
    if kept eq null then Nil
    else
      val row = kept.rows match
        case Vector(one) => one
        case none if none.isEmpty => refuse("no rows returned for \\gset")
        case _ => refuse("more than one row returned for \\gset")
      kept.names
        .zip(row)
        .toList
        .flatMap: (name, value) =>
          if Variables.isSpecial(prefix + name) then
            val told = Variables.text(prefix + name)
            List(s"attempt to \\gset into specially treated variable \"$told\" ignored\n")
          else
            assign(prefix + name, value)
            Nil

  private def assign(name: String, value: String | Null): Unit =
    if LastResult.isOfErrors(name) then last.set(name, Option(value))
    else if Variables.isOfRun(name) then ()
    else if value eq null then variables.remove(name)
    else variables.set(name, value): Unit

  /** Returns the statements that the values of the rows are, row by row. Each is read by the
    * settings that those before it have left.
    */
  def statements(command: Piece.Command): Iterator[Piece.Statement] =
    val kept = session.takeRows()
    val texts = if kept eq null then Vector.empty else kept.rows.flatten.filter(_ ne null)
    val jump = Piece.Jump(0, command.start, stays = true)
    texts.iterator.map: text =>
      val bytes = text.nn.getBytes(ISO_8859_1)
      if Tokens.isCopy(bytes :+ ';'.toByte) then
        refuse("COPY … FROM STDIN in a row of \\gexec, which has no data")
      Piece.Statement(
        bytes,
        false,
        command.start,
        command.endOffset,
        List(jump),
        reading = session.reading
      )

  private def refuse(problem: String): Nothing =
    throw CommandProblem(problem, "Look at what the statement before it returns.")
