package weir.cli.sql.report

import weir.program.CharWidth

/** The line of an error, as it is shown. If it does not fit, the parts far from the caret are cut
  * away.
  *
  * @param caret
  *   the number of columns that come before the place of the error
  */
final case class Excerpt(line: String, caret: Int):
  def caretLine: String = " " * caret + "^"

object Excerpt:
  private val cut = Cell("…", 1)
  private val tabColumns = 8

  /** A cell: characters that take their columns together. */
  private final case class Cell(text: String, columns: Int)

  /** @param before
    *   the line up to the place of the error, or the end of that
    * @param after
    *   the rest of the line, or the beginning of that
    * @param columns
    *   the number of columns, at least 20
    */
  def of(before: String, after: String, columns: Int): Excerpt =
    val left = cells(before, 0)
    val right = cells(after, width(left))
    val free = columns - 1 // a line that reaches the last column may wrap
    // The caret is at two thirds, unless there is less to its right.
    val shownLeft = last(left, (free - width(right)).max(free * 2 / 3))
    val shownRight = first(right, free - width(shownLeft))
    Excerpt((shownLeft ++ shownRight).map(_.text).mkString, width(shownLeft))

  private def width(cells: Vector[Cell]): Int = cells.map(_.columns).sum

  private def cells(text: String, from: Int): Vector[Cell] =
    val found = Vector.newBuilder[Cell]
    var column = from
    text.codePoints.forEach: codePoint =>
      val cell =
        if codePoint == '\t' then
          val columns = tabColumns - column % tabColumns
          Cell(" " * columns, columns)
        else if Character.isISOControl(codePoint) then Cell("·", 1)
        else Cell(Character.toString(codePoint), CharWidth.of(codePoint))
      column += cell.columns
      found += cell
    found.result()

  /** Returns the first cells that fit, with a mark if more follow. */
  private def first(cells: Vector[Cell], columns: Int): Vector[Cell] =
    if width(cells) <= columns then cells else fitting(cells, columns - cut.columns) :+ cut

  private def last(cells: Vector[Cell], columns: Int): Vector[Cell] =
    if width(cells) <= columns then cells
    else cut +: fitting(cells.reverse, columns - cut.columns).reverse

  private def fitting(cells: Vector[Cell], columns: Int): Vector[Cell] =
    cells.take(cells.scanLeft(0)(_ + _.columns).tail.takeWhile(_ <= columns).size)
