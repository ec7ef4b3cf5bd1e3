package weir.cli.lab.report

import java.nio.charset.StandardCharsets.UTF_8
import java.security.MessageDigest
import java.time.{Instant, ZoneOffset}
import java.time.format.DateTimeFormatter
import java.util.Base64

import weir.cli.lab.LabReport

/** A report as one page that holds all it needs and may ask the network for nothing. */
object HtmlReport:
  def page(report: LabReport, at: Instant): String =
    val cards = ChartCard.of(report.results)
    val scripts = Seq(ChartScript.echarts, ChartScript.charts, ChartScript.page).map(inScript)
    val title = s"weir ${report.command}"
    s"""<!doctype html>
       |<html lang="en">
       |<head>
       |<meta charset="utf-8">
       |<meta http-equiv="Content-Security-Policy" content="${policy(scripts)}">
       |<meta name="viewport" content="width=device-width, initial-scale=1">
       |<title>${escape(title)}</title>
       |<link rel="icon" href="data:,">
       |<style>
       |${ChartScript.style}</style>
       |</head>
       |<body>
       |<main>
       |<h1><span>weir</span> ${escape(report.command)}</h1>
       |<dl class="facts">${facts(report, at)}</dl>
       |<p class="reading">${escape(reading(cards))}</p>
       |<noscript><p>The charts need JavaScript; the figures are below.</p></noscript>
       |<div class="cards">
       |${cards.map(card).mkString("\n")}
       |</div>
       |<section class="figures">
       |<h2>All figures</h2>
       |<div class="tables">
       |${cards.map(table).mkString("\n")}
       |</div>
       |</section>
       |<footer>Charts: Apache ECharts, under the Apache License 2.0, carried in this page.</footer>
       |</main>
       |<script type="application/json" id="cards">${data(cards)}</script>
       |${scripts.map(script => s"<script>$script</script>").mkString("\n")}
       |</body>
       |</html>
       |""".stripMargin

  /** Runs the page's own scripts, known by their hashes, and loads nothing from anywhere. */
  private def policy(scripts: Seq[String]): String =
    val known = scripts.map(script => s"'sha256-${hash(script)}'").mkString(" ")
    s"default-src 'none'; script-src $known; style-src 'unsafe-inline'; img-src data:; " +
      "base-uri 'none'; form-action 'none'"

  private def hash(text: String): String =
    Base64.getEncoder.encodeToString(
      MessageDigest.getInstance("SHA-256").digest(text.getBytes(UTF_8))
    )

  /** Text that would end the element, or begin a comment in it, can only be in a literal, where a
    * backslash changes nothing.
    */
  private def inScript(text: String): String =
    text.replaceAll("(?i)</(script)", "<\\\\/$1").replace("<!--", "<\\!--")

  /** In JSON, `<` can only be in a string. */
  private def data(cards: Seq[ChartCard]): String =
    ujson.write(ChartScript.json(cards)).replace("<", "\\u003c")

  private def facts(report: LabReport, at: Instant): String =
    val date = DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm 'UTC'").withZone(ZoneOffset.UTC)
    Seq(
      "commit" -> report.commit,
      "JDK" -> report.jdk,
      "CPUs" -> report.cpus.toString,
      "seed" -> report.seed.toString,
      "date" -> date.format(at)
    ).map((name, value) => s"<div><dt>$name</dt><dd>${escape(value)}</dd></div>").mkString

  private def reading(cards: Seq[ChartCard]): String =
    val bars = cards.flatMap(_.blocks).flatMap(_.bars)
    val ratios = Option.when(cards.exists(_.margin.nonEmpty)):
      "8.1x beside a system says that Weir does 8.1 times better; below 1x, Weir does worse."
    val bound = Option.when(bars.exists(_.system == "bound")):
      "The bound is what nothing could beat: 1.01x bound is one per cent from it."
    (ratios ++ bound).mkString(" ")

  private def card(card: ChartCard): String =
    val isBehind = card.margin.startsWith("0")
    val margin =
      if card.margin.isEmpty then ""
      else
        s"""<div class="margin${if isBehind then " behind" else ""}">${card.margin}""" +
          "<small>the best rival</small></div>"
    val title = escape(card.title)
    s"""<section class="card"><header><div><h2>$title</h2><p>${escape(card.scale)}</p></div>""" +
      s"""$margin</header><div class="chart" role="img" """ +
      s"""aria-label="$title, as a chart"></div></section>"""

  private def table(card: ChartCard): String =
    val blocks = card.blocks.map: block =>
      val head =
        if block.name.isEmpty then ""
        else s"""<tr class="case"><th colspan="3">${escape(block.name)}</th></tr>"""
      block.bars.map(row).mkString(s"<tbody>$head", "", "</tbody>")
    s"""<table><caption>${escape(card.title)} <span>${escape(card.meaning)}</span></caption>""" +
      """<thead><tr><th></th><th class="number">value</th>""" +
      """<th class="number">ratio</th></tr></thead>""" +
      blocks.mkString + "</table>"

  private def row(bar: ChartCard.Bar): String =
    val kind = if bar.system == "weir" then " class=\"weir\"" else ""
    val cells = Seq(bar.text, bar.ratio).map(text => s"""<td class="number">${escape(text)}</td>""")
    s"<tr$kind><td>${escape(bar.name)}</td>${cells.mkString}</tr>"

  private def escape(text: String): String =
    text
      .replace("&", "&amp;")
      .replace("<", "&lt;")
      .replace(">", "&gt;")
      .replace("\"", "&quot;")
