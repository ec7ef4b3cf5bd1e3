package weir.postgres.display

/** The lines and marks around the cells of an aligned table, as psql's `\pset linestyle` has them.
  *
  * @param wrapsRightBorder
  *   true if marks to the right of a header have a column of their own
  * @param atNewline
  *   the line before a cell that goes on after a newline
  * @param atBlank
  *   the line before a cell that has ended
  */
private[display] final case class LineStyle(
    top: LineStyle.Rule,
    middle: LineStyle.Rule,
    bottom: LineStyle.Rule,
    data: LineStyle.Rule,
    atNewline: String,
    atBlank: String,
    headerLeft: String,
    headerRight: String,
    cellLeft: String,
    cellRight: String,
    wrapsRightBorder: Boolean
)

private[postgres] object LineStyle:
  final case class Rule(line: String, left: String, inner: String, right: String)

  /** Says which lines are double: around the table, between columns, below the header. */
  final case class Unicode(
      border: Boolean = false,
      column: Boolean = false,
      header: Boolean = false
  )

  private val dashes = Rule("-", "+", "+", "+")
  private val bars = Rule("", "|", "|", "|")

  private[display] val ascii: LineStyle =
    LineStyle(dashes, dashes, dashes, bars, "|", "|", " ", "+", " ", "+", wrapsRightBorder = true)

  private[display] val oldAscii: LineStyle =
    LineStyle(dashes, dashes, dashes, bars, ":", " ", "+", " ", " ", " ", wrapsRightBorder = false)

  private[display] def unicode(lines: Unicode): LineStyle =
    def of(isDouble: Boolean, single: String, double: String) = if isDouble then double else single
    def crossing(texts: String) = // one of four by the column and the other line
      (other: Boolean) => texts(index(lines.column, other)).toString
    val flat = of(lines.border, "─", "═")
    val upright = of(lines.border, "│", "║")
    val column = of(lines.column, "│", "║")
    val top = Rule(
      flat,
      of(lines.border, "┌", "╔"),
      crossing("┬╤╥╦")(lines.border),
      of(lines.border, "┐", "╗")
    )
    val middle = Rule(
      of(lines.header, "─", "═"),
      "├╟╞╠" (index(lines.header, lines.border)).toString,
      crossing("┼╪╫╬")(lines.header),
      "┤╢╡╣" (index(lines.header, lines.border)).toString
    )
    val bottom = Rule(
      flat,
      of(lines.border, "└", "╚"),
      crossing("┴╧╨╩")(lines.border),
      of(lines.border, "┘", "╝")
    )
    val data = Rule("", upright, column, upright)
    LineStyle(
      top,
      middle,
      bottom,
      data,
      column,
      column,
      " ",
      "↵",
      " ",
      "↵",
      wrapsRightBorder = true
    )

  private def index(first: Boolean, second: Boolean): Int =
    (if first then 2 else 0) + (if second then 1 else 0)
