package weir.cli.sql.report

import java.io.{IOException, InputStream}

import weir.postgres.Position

/** Errors with their lines of the scripts, which are read again for it.
  *
  * @param open
  *   the script of that name from its beginning, unpacked; none if it cannot be read again
  */
final class ErrorReport(text: ErrorText, open: String => Option[InputStream]):
  def lines(problem: Problem): Vector[String] =
    val source = problem.position.flatMap(sourceLine(problem.script, _))
    if problem.position.forall(_.offset >= 0) then text.lines(problem, source)
    else
      val (placed, line) = inCopyData(problem, source)
      text.lines(placed, line)

  /** Of COPY data the server tells the line; the column is where the line holds the value that the server quotes. */
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

  /** None if the script has gone meanwhile: what the server said matters more. */
  private def sourceLine(script: String, position: Position): Option[SourceLine] =
    try
      open(script).map: in =>
        try SourceLine.at(in, position)
        finally in.close()
    catch case _: IOException => None
