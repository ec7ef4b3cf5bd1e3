package weir.postgres.display

/** Makes the text of `\pset format aligned`: a column for each column, as wide as its widest value.
  */
private[display] final class AlignedTable(
    display: Display,
    areNumbers: Vector[Boolean],
    headers: Vector[Cell],
    rows: Vector[Vector[Cell]]
):
  private val border = display.border.min(2)
  private val style = display.style
  private val count = headers.size
  private val made = StringBuilder()

  private val widths: Vector[Int] =
    Vector.tabulate(count)(i => rows.iterator.map(_(i).width).foldLeft(headers(i).width)(_ max _))

  /** Returns the number of columns of a terminal that the table takes. */
  val width: Int = widths.sum + (border match
    case 2 => count * 3 + 1
    case 1 => (count * 3 - 1).max(0)
    case _ => count)

  def text: String =
    title()
    header()
    rows.foreach(row)
    if border == 2 then rule(style.bottom)
    if !display.tuplesOnly && display.hasFooter then line(Footer.of(rows.size))
    put("\n")
    made.result()

  private def title(): Unit =
    for title <- display.title if !display.tuplesOnly do
      val own = Cell.of(title).width
      line(if own >= width then title else " " * ((width - own) / 2) + title)

  private def header(): Unit =
    if !display.tuplesOnly then
      if border == 2 then rule(style.top)
      val height = headers.map(_.height).maxOption.getOrElse(0)
      for i <- 0 until height do headerLine(i)
      rule(style.middle)

  private def headerLine(index: Int): Unit =
    if border == 2 then put(style.data.left)
    for i <- 0 until count do
      val lines = headers(i).lines
      if border != 0 || (!style.wrapsRightBorder && i > 0) then
        put(if index > 0 then style.headerLeft else " ")
      lines.lift(index) match
        case Some(line) =>
          val space = widths(i) - line.width
          put(" " * (space / 2), line.text, " " * ((space + 1) / 2))
        case None => put(" " * widths(i))
      if border != 0 || style.wrapsRightBorder then
        put(if index + 1 < lines.size then style.headerRight else " ")
      if border != 0 && i < count - 1 then put(style.data.inner)
    if border == 2 then put(style.data.right)
    put("\n")

  private def row(cells: Vector[Cell]): Unit =
    val height = cells.map(_.height).maxOption.getOrElse(0)
    for index <- 0 until height do
      if border == 2 then put(style.data.left)
      for i <- 0 until count do cell(cells, i, index)
      if border == 2 then put(style.data.right)
      put("\n")

  private def cell(cells: Vector[Cell], i: Int, index: Int): Unit =
    val lines = cells(i).lines
    val isLast = i == count - 1
    val hasSpaces = border == 2 || !isLast
    val goesOn = index + 1 < lines.size
    if border != 0 then put(if index > 0 && index < lines.size then style.cellLeft else " ")
    lines.lift(index) match
      case None => if hasSpaces then put(" " * widths(i))
      case Some(line) =>
        val spaces = " " * (widths(i) - line.width)
        if areNumbers(i) then put(spaces, line.text)
        else
          put(line.text)
          if hasSpaces || goesOn then put(spaces)
    if goesOn then put(style.cellRight)
    else if hasSpaces then put(" ")
    if border != 0 && !isLast then put(divider(cells(i + 1), index))

  /** The line before the next cell, which may go on, or have ended. */
  private def divider(next: Cell, index: Int): String =
    if index >= next.height then style.atBlank
    else if index > 0 then style.atNewline
    else style.data.inner

  private def rule(of: LineStyle.Rule): Unit =
    if border == 1 then put(of.line)
    else if border == 2 then put(of.left, of.line)
    val between = if border == 0 then " " else of.line + of.inner + of.line
    put(widths.map(of.line * _).mkString(between))
    if border == 2 then put(of.line, of.right)
    else if border == 1 then put(of.line)
    put("\n")

  private def line(content: String): Unit = put(content, "\n")

  private def put(texts: String*): Unit = texts.foreach(part => made.append(part): Unit)
