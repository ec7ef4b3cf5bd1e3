package weir.cli.lab.report

import java.nio.charset.StandardCharsets.UTF_8
import scala.util.Using

/** The scripts that draw the charts, and what they are given. */
private[report] object ChartScript:
  /** Apache ECharts, whole, with its licence at the top. */
  lazy val echarts: String = text("echarts.js")

  /** From a card to what ECharts draws; needs no browser. */
  lazy val charts: String = text("charts.js")

  /** Puts the charts into the page. */
  lazy val page: String = text("page.js")

  lazy val style: String = text("page.css")

  def json(cards: Seq[ChartCard]): ujson.Value = ujson.Arr.from(cards.map(json))

  private def json(card: ChartCard): ujson.Value =
    ujson.Obj(
      "title" -> card.title,
      "unit" -> card.unit,
      "isLog" -> card.isLog,
      "blocks" -> ujson.Arr.from(card.blocks.map(json))
    )

  private def json(block: ChartCard.Block): ujson.Value =
    ujson.Obj(
      "name" -> block.name,
      "low" -> block.low,
      "high" -> block.high,
      "bars" -> ujson.Arr.from(block.bars.map(json))
    )

  private def json(bar: ChartCard.Bar): ujson.Value =
    ujson.Obj(
      "name" -> bar.name,
      "system" -> bar.system,
      "value" -> bar.value,
      "text" -> bar.text,
      "ratio" -> bar.ratio,
      "isBehindWeir" -> bar.isBehindWeir
    )

  private def text(name: String): String =
    val stream = Option(getClass.getResourceAsStream(name))
      .getOrElse(throw IllegalStateException(s"$name is not among the program's resources"))
    Using.resource(stream)(in => String(in.readAllBytes(), UTF_8)).replace("\r", "")
