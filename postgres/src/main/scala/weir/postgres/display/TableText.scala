package weir.postgres.display

import java.nio.charset.Charset
import scala.collection.mutable.ArrayBuffer
import weir.postgres.psql.CommandProblem

/** Makes the text of a result, row by row, as psql prints it. */
private[postgres] trait TableText:
  /** Adds a row; null is the value that is none. */
  def add(row: Array[String | Null]): Unit

  /** Returns the number of characters that `take` would return. */
  def size: Int

  /** Returns the text so far, and forgets it. */
  def take(): String

  /** Returns the rest of the text, once all rows have been added. */
  def end(): String

private[postgres] object TableText:
  final case class Column(name: String, isNumber: Boolean)

  /** **Fails** with a `CommandProblem` if the format is not printed here.
    */
  def of(display: Display, columns: Vector[Column]): TableText =
    import Display.{Expanded, Format}
    val isExpanded = display.expanded == Expanded.On
    display.format match
      case Format.Unaligned if isExpanded => UnalignedRecords(display, columns)
      case Format.Unaligned => UnalignedRows(display, columns)
      case Format.Csv => CsvText(display, columns)
      case Format.Aligned => Aligned(display, columns)
      case Format.Wrapped if display.columns == 0 => Aligned(display, columns)
      case other =>
        val name = other match
          case Format.Other(name) => name
          case _ => "wrapped, with a number of columns,"
        throw CommandProblem(
          s"the format $name is not supported for the rows of a statement",
          "These are: aligned, unaligned, csv."
        )

  /** The types whose values psql aligns to the right. */
  private val numbers = Set(20, 21, 23, 26, 28, 29, 700, 701, 790, 1700, 5069)

  def column(name: Array[Byte], kind: Int, charset: Charset): Column =
    Column(String(name, charset), numbers(kind))

/** Keeps all rows, since the widths of the columns depend on each of them. */
private final class Aligned(display: Display, columns: Vector[TableText.Column]) extends TableText:
  private val rows = ArrayBuffer.empty[Array[String | Null]]

  def add(row: Array[String | Null]): Unit = rows += row
  def size: Int = 0
  def take(): String = ""

  def end(): String =
    val headers = columns.map(column => Cell.of(column.name))
    val cells = rows.iterator
      .map(row => columns.zip(row).map((c, value) => Cell.of(display.textOf(value, c.isNumber))))
      .toVector
    rows.clear()
    val table = AlignedTable(display, columns.map(_.isNumber), headers, cells)
    val isExpanded = display.expanded match
      case Display.Expanded.On => true
      case Display.Expanded.Off => false
      case Display.Expanded.Auto =>
        display.columns > 0 && columns.size > 1 && table.width > display.columns
    if isExpanded then AlignedRecords(display, headers, cells).text else table.text
