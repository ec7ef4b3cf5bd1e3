package weir.program.report

import java.nio.charset.StandardCharsets.UTF_8
import java.security.MessageDigest
import java.time.{Instant, ZoneOffset}
import java.time.format.DateTimeFormatter
import java.util.Base64

/** A report as one page that holds all it needs and may ask the network for nothing. */
object HtmlReport:
  def page(report: RunReport, at: Instant): String =
    val cards = ChartCard.of(report.results)
    val facts = Seq(
      "commit" -> report.commit,
      "JDK" -> report.jdk,
      "CPUs" -> report.cpus.toString,
      "seed" -> report.seed.toString,
      "date" -> date(at)
    )
    page(report.command, facts, Seq(reading(cards)), cards)

  /** Returns the day and the minute of `at`, as among the facts. */
  def date(at: Instant): String =
    DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm 'UTC'").withZone(ZoneOffset.UTC).format(at)

  /** @param facts
    *   the facts below the title: pairs of a name and a value
    * @param notes
    *   the paragraphs that explain the charts
    */
  def page(
      command: String,
      facts: Seq[(String, String)],
      notes: Seq[String],
      cards: Seq[ReportCard]
  ): String =
    val scripts = Seq(ChartScript.echarts, ChartScript.charts, ChartScript.page).map(inScript)
    val title = s"weir $command"
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
       |<h1><span>weir</span> ${escape(command)}</h1>
       |<dl class="facts">${facts.map(fact).mkString}</dl>
       |${notes.map(note => s"""<p class="reading">${escape(note)}</p>""").mkString("\n")}
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
  private def data(cards: Seq[ReportCard]): String =
    ujson.write(ChartScript.json(cards)).replace("<", "\\u003c")

  private def fact(name: String, value: String): String =
    s"<div><dt>${escape(name)}</dt><dd>${escape(value)}</dd></div>"

  private def reading(cards: Seq[ChartCard]): String =
    val bars = cards.flatMap(_.blocks).flatMap(_.bars)
    val ratios = Option.when(cards.exists(_.margin.nonEmpty)):
      "8.1x beside a system says that Weir does 8.1 times better; below 1x, Weir does worse."
    val bound = Option.when(bars.exists(_.system == "bound")):
      "No program can beat the bound: 1.01x bound is one per cent from it."
    (ratios ++ bound).mkString(" ")

  private def card(card: ReportCard): String =
    val isBehind = card.margin.startsWith("0")
    val margin =
      if card.margin.isEmpty then ""
      else
        s"""<div class="margin${if isBehind then " behind" else ""}">${card.margin}""" +
          s"<small>${escape(card.marginOver)}</small></div>"
    val title = escape(card.title)
    s"""<section class="card"><header><div><h2>$title</h2><p>${escape(card.scale)}</p></div>""" +
      s"""$margin</header><div class="chart" role="img" """ +
      s"""aria-label="$title, as a chart"></div></section>"""

  private def table(card: ReportCard): String =
    val table = card.table
    val head = table.columns.map(column => s"""<th class="number">${escape(column)}</th>""")
    val parts = table.parts.map: (name, rows) =>
      val title =
        if name.isEmpty then ""
        else s"""<tr class="case"><th colspan="${head.size + 1}">${escape(name)}</th></tr>"""
      rows.map(row).mkString(s"<tbody>$title", "", "</tbody>")
    s"""<div class="wide"><table><caption>${escape(card.title)} """ +
      s"""<span>${escape(card.meaning)}</span></caption>""" +
      s"<thead><tr><th></th>${head.mkString}</tr></thead>${parts.mkString}</table></div>"

  private def row(row: ReportCard.Row): String =
    val kind = if row.system == "weir" then " class=\"weir\"" else ""
    val cells = row.cells.map: cell =>
      val below = if cell.below.isEmpty then "" else s"<small>${escape(cell.below)}</small>"
      s"""<td class="number">${escape(cell.text)}$below</td>"""
    s"<tr$kind><td>${escape(row.name)}</td>${cells.mkString}</tr>"

  private def escape(text: String): String =
    text
      .replace("&", "&amp;")
      .replace("<", "&lt;")
      .replace(">", "&gt;")
      .replace("\"", "&quot;")
