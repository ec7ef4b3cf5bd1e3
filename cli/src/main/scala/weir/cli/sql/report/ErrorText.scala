package weir.cli.sql.report

import weir.postgres.{Position, SourceLine}

/** The text of an error in a script for the terminal: the place, the problem, the line with a
  * caret, and the server's additions.
  */
final class ErrorText(columns: Int, isColoured: Boolean):
  import ErrorText.*

  /** Returns the lines; `source` is the line of the script, if it could be found. */
  def lines(problem: Problem, source: Option[SourceLine]): Vector[String] =
    val place = s"${problem.script}${problem.position.fold("")(at => s":${placeIn(at)}")}:"
    val severity = paint(red, s"${problem.severity}:")
    val first = s"${paint(bold, place)} $severity ${printable(problem.message)}"
    val quoted = source.toVector.flatMap: line =>
      val excerpt = Excerpt.of(line.before, line.after, columns)
      val caret = Option.when(hasColumn(problem))(" " * excerpt.caret + paint(red, "^"))
      excerpt.line +: caret.toVector
    first +: (quoted ++ part("DETAIL", problem.detail) ++ part("HINT", problem.hint) ++
      part("CONTEXT", problem.context))

  private def hasColumn(problem: Problem): Boolean = problem.position.exists(_.column > 0)

  private def placeIn(position: Position): String =
    if position.column > 0 then position.toString else position.line.toString

  /** As psql: the first line behind the word, others as they are. */
  private def part(word: String, text: Option[String]): Vector[String] =
    text.toVector.flatMap(text => s"${paint(bold, s"$word:")} ${printable(text)}".linesIterator)

  private def paint(code: String, text: String): String =
    if isColoured then s"$code$text$plain" else text

object ErrorText:
  private val bold = "\u001b[1m"
  private val red = "\u001b[1;31m"
  private val plain = "\u001b[0m"

  /** A message may quote data, which must do nothing to a terminal. */
  private def printable(text: String): String =
    text.map(c => if Character.isISOControl(c) && c != '\n' && c != '\t' then '·' else c)

  /** Colour is for people: on a terminal that has it, and where NO_COLOR is not set. */
  def isColoured(isTerminal: Boolean, variables: Map[String, String]): Boolean =
    isTerminal && variables.get("NO_COLOR").forall(_.isEmpty) &&
      !variables.get("TERM").contains("dumb")
