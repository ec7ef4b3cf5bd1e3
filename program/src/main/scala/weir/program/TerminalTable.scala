package weir.program

/** A table as lines of text: the first column to the left, numbers to the right. */
object TerminalTable:
  /** Returns the header, a rule, and a line for each row; rows may be shorter than the header. */
  def lines(header: Seq[String], rows: Seq[Seq[String]]): Vector[String] =
    val all = header +: rows
    val widths = header.indices.map(column => all.map(_.lift(column).fold(0)(_.length)).max)
    val rule = "-" * (widths.sum + gap.length * (header.size - 1))
    Vector(layOut(header, widths), rule) ++ rows.map(layOut(_, widths))

  private val gap = "   "

  private def layOut(cells: Seq[String], widths: Seq[Int]): String =
    val numbers = widths.zipWithIndex.tail.map: (width, column) =>
      val cell = cells.lift(column).getOrElse("")
      " " * (width - cell.length) + cell
    (cells.head.padTo(widths.head, ' ') +: numbers).mkString(gap).stripTrailing
