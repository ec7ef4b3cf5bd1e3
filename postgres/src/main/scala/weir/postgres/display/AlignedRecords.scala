package weir.postgres.display

/** Makes the text of `\pset expanded` in the format `aligned`: a line for each value, with the name
  * of its column before it.
  */
private[display] final class AlignedRecords(
    display: Display,
    headers: Vector[Cell],
    rows: Vector[Vector[Cell]]
):
  private val border = display.border.min(2)
  private val style = display.style
  private val isOld = !style.wrapsRightBorder
  private val made = StringBuilder()

  private val headerWidth = headers.map(_.width).maxOption.getOrElse(0)
  private val hasHeaderLines = headers.exists(_.height > 1)
  private val hasLines = rows.exists(_.exists(_.height > 1))

  private val dataWidth =
    rows.iterator.flatMap(_.iterator).map(_.width).maxOption.getOrElse(0)

  def text: String =
    if rows.isEmpty || headers.isEmpty then
      if !display.tuplesOnly && display.hasFooter then put(Footer.of(rows.size), "\n")
    else
      if !display.tuplesOnly then display.title.foreach(title => put(title, "\n"))
      for (row, i) <- rows.zipWithIndex do
        val rule = if i == 0 then style.top else style.middle
        if !display.tuplesOnly then line(rule, i + 1)
        else if i > 0 || border == 2 then line(rule, 0)
        headers.zip(row).foreach(field)
      if border == 2 then line(style.bottom, 0)
    put("\n")
    made.result()

  /** The line above a record, with its number unless that is 0. */
  private def line(rule: LineStyle.Rule, record: Int): Unit =
    val width = headerWidth + (if border < 2 && hasHeaderLines && isOld then 1 else 0)
    if border == 2 then put(rule.left, rule.line)
    else if border == 1 then put(rule.line)
    val name =
      if record == 0 then ""
      else if border == 0 then s"* Record $record"
      else s"[ RECORD $record ]"
    put(name)
    val fill = if border > 0 then rule.line else " "
    val taken = name.length + (if border == 2 then 0 else 1)
    put(fill * (width - taken).max(0))
    var over = taken.max(0) - width
    def part(text: String): Unit =
      if over <= 0 then put(text)
      over -= 1
    if border > 0 then
      part(rule.line)
      part(rule.inner)
      part(rule.line)
    else part(" ")
    put(fill * (dataWidth - over.max(0)).max(0))
    if border == 2 then put(rule.line, rule.right)
    put("\n")

  private def field(header: Cell, cell: Cell): Unit =
    for i <- 0 until header.height.max(cell.height) do
      if border == 2 then put(style.data.left)
      name(header, i)
      if border > 0 then put(if i == 0 then style.data.inner else style.atNewline)
      cell.lines.lift(i) match
        case Some(line) => value(line, i + 1 < cell.height)
        case None =>
          if border == 2 then put(" " * dataWidth, "  ", style.data.right)
      put("\n")

  private def name(header: Cell, i: Int): Unit =
    header.lines.lift(i) match
      case Some(line) =>
        if border == 2 || (hasHeaderLines && isOld) then
          put(if i > 0 then style.headerLeft else " ")
        put(line.text, " " * (headerWidth - line.width))
        if border > 0 || (hasHeaderLines && !isOld) then
          put(if i + 1 < header.height then style.headerRight else " ")
      case None =>
        val extra = if hasHeaderLines && (if isOld then border < 2 else border == 0) then 1 else 0
        put(" " * (headerWidth + border + extra).max(1))

  private def value(line: Cell.Line, goesOn: Boolean): Unit =
    val spaces = " " * (dataWidth - line.width)
    put(" ", line.text)
    if goesOn then
      if border > 1 || (hasLines && !isOld) then put(spaces, style.cellRight)
    else if border > 1 then put(spaces, " ")
    if border == 2 then put(style.data.right)

  private def put(texts: String*): Unit = texts.foreach(part => made.append(part): Unit)
