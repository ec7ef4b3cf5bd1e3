package weir.lab.report

import java.nio.file.Path

import weir.program.{BrowserTests, Tier}
import weir.program.report.{ChartCard, RunReport, SampleReports}

/** The page in a real browser, at the width of a desktop and of a phone. */
class BrowserSuite extends BrowserTests:
  private def page(report: RunReport): Path =
    val file = files.resolve(s"${report.command}.html")
    report.write(report = Some(file))
    file

  for
    report <- SampleReports.all
    (screen, width, height) <- List(("desktop", 1280, 900), ("small", 360, 740)) ++
      Tier(Nil, List(("phone", 390, 844)))
  do
    test(s"${report.command}: charts with data, no error, no request, no overflow: $screen"):
      needsBrowser()
      val file = page(report)
      val tab = browser.open(file, width, height, isDark = screen == "small")
      val cards = ChartCard.of(report.results)
      val bars = cards.flatMap(_.blocks).flatMap(_.bars)
      keep(s"${report.command}-$screen", tab)

      assertEquals(tab.problems, Vector.empty)
      assertEquals(tab.requests.distinct.filterNot(_ == "data:,"), Vector(file.toUri.toString))
      assertEquals(
        tab.evaluate("document.querySelectorAll('.chart svg').length").num.toInt,
        cards.size
      )
      val texts = tab
        .evaluate("[...document.querySelectorAll('.chart svg')].map(svg => svg.textContent)")
        .arr
        .map(_.str)
        .mkString
      for bar <- bars do assert(texts.contains(bar.text), s"${bar.text} is not in the charts")
      assertEquals(tab.evaluate(drawnBars).num.toInt, bars.size)
      assertEquals(tab.evaluate("document.documentElement.scrollWidth").num.toInt, width)
      assertEquals(tab.evaluate(cutTexts).arr.map(_.str).toVector, Vector.empty)

  test("a page that asked the network would not get there"):
    needsBrowser()
    val tab = browser.open(page(SampleReports.clients), 1280, 900)
    val fetched = tab.evaluate(
      "fetch('http://127.0.0.1:1/').then(() => 'answered', () => 'refused')"
    )
    assertEquals(fetched.str, "refused")
    assert(tab.problems.exists(_.contains("Content Security Policy")), tab.problems)

  test("the charts are drawn anew when the page becomes narrow"):
    needsBrowser()
    val tab = browser.open(page(SampleReports.clients), 1280, 900)
    val widthOf = "document.querySelector('.chart svg').getBoundingClientRect().width"
    val wide = tab.evaluate(widthOf).num
    val narrow =
      ujson.Obj("width" -> 390, "height" -> 844, "deviceScaleFactor" -> 1, "mobile" -> true)
    tab.call("Emulation.setDeviceMetricsOverride", narrow): Unit
    val frames =
      "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))"
    tab.evaluate(frames): Unit
    assert(tab.evaluate(widthOf).num < wide)

  /** The number of bars that can be seen, or have no length since their value is 0. */
  private val drawnBars =
    """[...document.querySelectorAll('.chart')].reduce((sum, place) =>
      |  sum + echarts.getInstanceByDom(place).getOption().series
      |    .reduce((sum, series) => sum + series.data.length, 0), 0)""".stripMargin
