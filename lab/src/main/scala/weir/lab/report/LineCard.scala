package weir.lab.report

import weir.program.report.ReportCard

/** A chart of a report in which each system is a line over the number of carriers.
  *
  * Both axes are logarithmic, with a line for each factor of two.
  *
  * @param counts
  *   the further counts in the table, below the lines
  * @param ideal
  *   the speed-up that is the best to expect of the most carriers
  */
private[lab] final case class LineCard(
    title: String,
    meaning: String,
    scale: String,
    margin: String,
    marginOver: String,
    carriers: Vector[Int],
    lines: Vector[LineCard.Line],
    counts: Vector[ReportCard.Row],
    ideal: Double
) extends ReportCard:
  def table: ReportCard.Table =
    val parts = Vector("" -> lines.map(_.row), "counts" -> counts)
    ReportCard.Table(carriers.map(_.toString), parts.filter(_._2.nonEmpty))

  def drawing: ujson.Obj =
    ujson.Obj(
      "title" -> title,
      "carriers" -> ujson.Arr.from(carriers.map(ujson.Num(_))),
      "ideal" -> ideal,
      "lines" -> ujson.Arr.from(lines.map(_.drawing))
    )

private[lab] object LineCard:
  /** @param points
    *   carriers and the speed-up over one
    */
  final case class Line(row: ReportCard.Row, points: Vector[(Int, Double)]):
    private[LineCard] def drawing: ujson.Obj =
      ujson.Obj(
        "system" -> row.system,
        "points" -> ujson.Arr.from(points.map((x, y) => ujson.Arr(ujson.Num(x), ujson.Num(y))))
      )
