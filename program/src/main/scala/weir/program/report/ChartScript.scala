package weir.program.report

import java.nio.charset.StandardCharsets.UTF_8
import scala.util.Using

/** The scripts that draw the charts, and their data. */
object ChartScript:
  /** Apache ECharts, whole, with its licence at the top. */
  lazy val echarts: String = text("echarts.js")

  /** From a card to what ECharts draws; needs no browser. */
  lazy val charts: String = text("charts.js")

  /** Puts the charts into the page. */
  lazy val page: String = text("page.js")

  lazy val style: String = text("page.css")

  /** Returns the data for the page's script. */
  def json(cards: Seq[ReportCard]): ujson.Value = ujson.Arr.from(cards.map(_.drawing))

  private def text(name: String): String =
    val stream = Option(getClass.getResourceAsStream(name))
      .getOrElse(throw IllegalStateException(s"$name is not among the program's resources"))
    Using.resource(stream)(in => String(in.readAllBytes(), UTF_8)).replace("\r", "")
