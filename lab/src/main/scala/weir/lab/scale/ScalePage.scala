package weir.lab.scale

import weir.lab.report.{LineCard, SvgChart}
import weir.program.Systems
import weir.program.report.{HtmlReport, ReportCard}

/** A report as a page, and as a picture: a chart for each row, with the speed-up over carriers. */
private[lab] object ScalePage:
  def html(report: ScaleReport): String =
    HtmlReport.page("scale", facts(report), reading +: ScaleTables.about(report), cards(report))

  /** @param isDrawn
    *   true if the row with that id belongs in the picture
    */
  def svg(report: ScaleReport, isDrawn: String => Boolean): String =
    val about = facts(report).map((name, value) => s"$name $value").mkString(", ")
    val rows = ScaleTables.rowsOf(report).filter(row => isDrawn(row.id))
    SvgChart.draw("scale", about, rows.map(card(report, _)))

  private def facts(report: ScaleReport): Seq[(String, String)] =
    Seq(
      "commit" -> report.commit,
      "JDK" -> report.jdk,
      "CPUs" -> report.cpus.toString,
      "date" -> HtmlReport.date(report.at)
    )

  private val reading =
    "A line shows the speed of a system as a multiple of its own speed with one carrier. The " +
      "tables have the operations a second. The dashed line is the best possible multiple: the " +
      "number of carriers, or 1 if all work goes through one object or fiber."

  def cards(report: ScaleReport): Vector[LineCard] =
    ScaleTables.rowsOf(report).map(card(report, _))

  private def card(report: ScaleReport, row: ScaleRow): LineCard =
    val margin = marginOf(report, row)
    LineCard(
      title = row.title,
      meaning = row.operation,
      scale = "speed-up over one carrier",
      margin = margin.fold("")((ratio, _) => ScaleTables.times(ratio)),
      marginOver = margin.fold("")((_, count) => s"the best rival, ${ScaleStep.count(count)}"),
      carriers = report.carriers,
      lines = ScaleTables.systemsOf(report, row).map(line(report, row, _)),
      counts = ScaleTables
        .counts(report, row)
        .map(count => ReportCard.Row("", count.head, count.tail.map(ReportCard.Cell(_)))),
      ideal = if row.spreads then report.carriers.last else 1
    )

  private def line(report: ScaleReport, row: ScaleRow, system: String): LineCard.Line =
    val cases = report.carriers.map(ScaleReport.Case(system, row, _))
    val cells = cases.map: at =>
      val ratio = report.speedUp(at).filter(_ => at.carriers > 1)
      ReportCard.Cell(
        report.figures.get(at).fold("")(ScaleTables.short),
        ratio.fold("")(ScaleTables.times)
      )
    val points = cases.flatMap(at => report.speedUp(at).map(at.carriers -> _))
    LineCard.Line(ReportCard.Row(system, system, cells), points)

  /** Returns the ratio of Weir's operations a second to those of the best rival, with the largest
    * number of carriers that both were measured with; and that number.
    */
  private def marginOf(report: ScaleReport, row: ScaleRow): Option[(Double, Int)] =
    val systems = ScaleTables.systemsOf(report, row)
    def figure(system: String, count: Int) =
      report.figures.get(ScaleReport.Case(system, row, count))
    report.carriers.reverseIterator
      .flatMap: count =>
        val rivals = systems.filter(_ != Systems.weir).flatMap(figure(_, count))
        figure(Systems.weir, count).zip(rivals.maxOption).map(_ / _ -> count)
      .nextOption()
