package weir.postgres.display

import scala.collection.mutable.ListBuffer

/** The text of a header or a value, as an aligned table shows it: its lines, with tabs as spaces
  * and control characters as their codes.
  */
private[display] final case class Cell(lines: Vector[Cell.Line]):
  def width: Int = lines.iterator.map(_.width).max
  def height: Int = lines.length

private[display] object Cell:
  final case class Line(text: String, width: Int)

  def of(text: String): Cell =
    if isPlain(text) then Cell(Vector(Line(text, text.length))) else Cell(linesOf(text))

  private def isPlain(text: String): Boolean =
    var i = 0
    while i < text.length && text.charAt(i) >= ' ' && text.charAt(i) < 127 do i += 1
    i == text.length

  private def linesOf(text: String): Vector[Line] =
    val lines = ListBuffer.empty[Line]
    val line = StringBuilder()
    var width = 0
    var i = 0
    while i < text.length do
      val point = text.codePointAt(i)
      i += Character.charCount(point)
      if point == '\n' then
        lines += Line(line.result(), width)
        line.clear()
        width = 0
      else if point == '\t' then
        val count = 8 - width % 8
        line ++= " " * count
        width += count
      else
        val shown =
          if point == '\r' then "\\r"
          else if point < ' ' || point == 127 then f"\\x$point%02X"
          else if point < 160 && point > 127 then f"\\u$point%04X"
          else null
        if shown ne null then
          line ++= shown
          width += shown.length
        else
          line.underlying.appendCodePoint(point): Unit
          width += widthOf(point)
    lines += Line(line.result(), width)
    lines.toVector

  /** The columns of a terminal that a character takes: none for a mark that is put on the one
    * before, two for the wide ones of East Asia and for pictures.
    */
  private def widthOf(point: Int): Int =
    if point < 0x300 then 1
    else
      Character.getType(point) match
        case Character.NON_SPACING_MARK | Character.ENCLOSING_MARK => 0
        case Character.FORMAT => 0
        case _ => if isWide(point) then 2 else 1

  private def isWide(point: Int): Boolean =
    var i = 0
    while i < Wide.length && point > Wide(i + 1) do i += 2
    i < Wide.length && point >= Wide(i)

  /** The first and the last of each range, after UAX #11, "East Asian Width". */
  private val Wide = Array(0x1100, 0x115f, 0x2329, 0x232a, 0x2e80, 0x303e, 0x3041, 0xa4cf, 0xa960,
    0xa97c, 0xac00, 0xd7a3, 0xf900, 0xfaff, 0xfe10, 0xfe19, 0xfe30, 0xfe6f, 0xff01, 0xff60, 0xffe0,
    0xffe6, 0x16fe0, 0x1b2ff, 0x1f300, 0x1f64f, 0x1f680, 0x1f6ff, 0x1f900, 0x1f9ff, 0x20000,
    0x3fffd)
