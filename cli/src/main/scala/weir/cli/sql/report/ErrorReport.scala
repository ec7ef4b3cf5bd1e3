package weir.cli.sql.report

import weir.postgres.{Position, SourceLine}

/** Errors with their lines of the scripts.
  *
  * @param lineAt
  *   the line at a position of the script of that name; none if it no longer exists
  */
final class ErrorReport(text: ErrorText, lineAt: (String, Position) => Option[SourceLine]):
  def lines(problem: Problem): Vector[String] =
    val source = problem.position.flatMap(lineAt(problem.script, _))
    if problem.position.forall(_.offset >= 0) then text.lines(problem, source)
    else
      val (placed, line) = inCopyData(problem, source)
      text.lines(placed, line)

  /** For COPY data the server gives the line; the column is that of the value that the server
    * quotes.
    */
  private def inCopyData(
      problem: Problem,
      source: Option[SourceLine]
  ): (Problem, Option[SourceLine]) =
    val row = source.fold("")(_.after)
    val at = problem.copied.flatMap(CopyField.indexOf(row, _))
    val column = at.fold(0)(row.codePointCount(0, _) + 1)
    val place = problem.position.map(_.copy(column = column))
    (
      problem.copy(position = place),
      source.map(_ => SourceLine(row.take(at.getOrElse(0)), row.drop(at.getOrElse(0))))
    )
