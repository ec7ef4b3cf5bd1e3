package weir.feeds.report

import weir.feeds.run.FeedCounts
import weir.program.Text

/** The table of outcomes: the number of feeds with each outcome, and the number of their items. */
object OutcomeTable:
  private val header = Vector("outcome", "feeds", "items", "new")

  /** Returns the lines of the table, its header first and the total last. */
  def lines(counts: FeedCounts.Snapshot): Vector[String] =
    val rows = counts.rows.map(cells) :+ cells("total", counts.total)
    val widths = header.indices.map(column => (header +: rows).map(_(column).length).max)
    val rule = "-" * (widths.sum + 3 * (header.size - 1))
    val body = rows.map(layOut(_, widths))
    Vector(layOut(header, widths), rule) ++ body.init ++ Vector(rule, body.last)

  private def cells(name: String, row: FeedCounts.Row): Vector[String] =
    Vector(name, Text.grouped(row.feeds), Text.grouped(row.found), Text.grouped(row.fresh))

  private def layOut(cells: Vector[String], widths: Seq[Int]): String =
    val numbers =
      cells.tail.zip(widths.tail).map((cell, width) => " " * (width - cell.length) + cell)
    (cells.head.padTo(widths.head, ' ') +: numbers).mkString("   ")
