package weir.lab.report

import org.mozilla.javascript.{Context, Scriptable, ScriptableObject}

import weir.program.report.{ChartCard, ChartScript, RunReport, ReportCard}

/** The charts of a report as one SVG file, for pages that cannot run scripts.
  *
  * The same script as in the HTML report draws them, with ECharts on a JavaScript engine that runs
  * on the JVM.
  */
object SvgChart:
  private val width = 760
  private val edge = 24
  private val titleHeight = 64
  private val cardTitleHeight = 34
  private val cardGap = 26

  def draw(report: RunReport): String =
    draw(report.command, about(report), ChartCard.of(report.results))

  /** @param about
    *   the line below the title
    */
  def draw(command: String, about: String, cards: Seq[ReportCard]): String =
    val drawn = cards.zip(drawAll(cards))
    val height = titleHeight + drawn.map(_._2.height + cardTitleHeight + cardGap).sum - 4
    val tops = drawn.scanLeft(titleHeight)((top, card) => top + heightOf(card._2))
    val parts = drawn.zip(tops).map { case ((card, drawing), top) => place(card, drawing, top) }
    val size = s"""width="$width" height="$height" viewBox="0 0 $width $height""""
    s"""<svg xmlns="http://www.w3.org/2000/svg" $size font-family="$font">
       |<rect width="$width" height="$height" rx="12" fill="#ffffff" stroke="#e3e7ec"/>
       |<text x="$edge" y="35" font-size="20" font-weight="700" fill="#1b2430">weir ${escape(
        command
      )}</text>
       |<text x="$edge" y="54" font-size="12" fill="#5d6977">${escape(about)}</text>
       |${parts.mkString("\n")}
       |</svg>
       |""".stripMargin

  private val font = "system-ui, -apple-system, 'Segoe UI', Roboto, Arial, sans-serif"

  private final case class Drawing(svg: String, height: Int)

  private def heightOf(drawing: Drawing): Int = cardTitleHeight + drawing.height + cardGap

  private def about(report: RunReport): String =
    s"commit ${report.commit}, JDK ${report.jdk}, ${report.cpus} CPUs, seed ${report.seed}"

  private def place(card: ReportCard, drawing: Drawing, top: Int): String =
    val size = s"""width="${width - 2 * edge}" height="${drawing.height}""""
    s"""<text x="$edge" y="${top + 20}" font-size="15" font-weight="600" fill="#1b2430">${escape(
        card.title
      )}<tspan dx="10" font-size="12" font-weight="400" fill="#5d6977">${escape(
        card.scale
      )}</tspan></text>
       |<svg x="$edge" y="${top + cardTitleHeight}" $size>${drawing.svg}</svg>""".stripMargin

  private def drawAll(cards: Seq[ReportCard]): Seq[Drawing] =
    val context = Context.enter()
    try
      context.setInterpretedMode(true) // ECharts has functions too long for a JVM method
      context.setLanguageVersion(Context.VERSION_ES6)
      val scope = context.initStandardObjects()
      for (name, script) <- Seq(
          "globals" -> "var self = this; function setTimeout() {} function clearTimeout() {}",
          "echarts.js" -> ChartScript.echarts,
          "charts.js" -> ChartScript.charts,
          "draw" -> drawOne
        )
      do context.evaluateString(scope, script, name, 1, null): Unit
      cards.map(card => drawing(context, scope, card))
    finally Context.exit()

  private val drawOne =
    s"""function drawOne(json) {
       |  var drawing = weirCharts.draw(JSON.parse(json), ${width - 2 * edge}, false);
       |  var chart = echarts.init(null, null, {
       |    renderer: 'svg', ssr: true, width: ${width - 2 * edge}, height: drawing.height
       |  });
       |  chart.setOption(drawing.option);
       |  return [drawing.height, chart.renderToSVGString()];
       |}""".stripMargin

  private def drawing(context: Context, scope: Scriptable, card: ReportCard): Drawing =
    val json = ujson.write(ChartScript.json(Seq(card)).arr.head)
    val pair = ScriptableObject
      .callMethod(context, scope, "drawOne", Array(json))
      .asInstanceOf[Scriptable]
    val svg = Context.toString(pair.get(1, pair))
    Drawing(withoutHover(svg), Context.toNumber(pair.get(0, pair)).toInt)

  /** ECharts adds rules for pointers over bars, which would also hold for other charts of the file.
    */
  private def withoutHover(svg: String): String =
    svg.replaceAll("(?s)<style.*?</style>", "").replaceAll(" class=\"zr[^\"]*\"", "")

  private def escape(text: String): String = text.replace("&", "&amp;").replace("<", "&lt;")
