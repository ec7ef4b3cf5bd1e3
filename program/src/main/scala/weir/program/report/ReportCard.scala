package weir.program.report

/** A chart of a report, with the table of its figures. */
trait ReportCard:
  def title: String

  /** The unit of the figures, and which ones are better. */
  def meaning: String

  /** Returns the meaning of the chart's lengths or lines. */
  def scale: String

  /** Weir's advantage over [[marginOver]], in words; empty if there is no rival. */
  def margin: String

  def marginOver: String

  /** Returns the data that the script draws. */
  def drawing: ujson.Obj

  def table: ReportCard.Table

object ReportCard:
  /** @param parts
    *   rows below the title of a part, which may be empty
    */
  final case class Table(columns: Seq[String], parts: Seq[(String, Seq[Row])])

  final case class Row(system: String, name: String, cells: Seq[Cell])

  /** @param below
    *   stands in small letters below the text
    */
  final case class Cell(text: String, below: String = "")
