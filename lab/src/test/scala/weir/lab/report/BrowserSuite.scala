package weir.lab.report

import java.nio.file.{Files, Path}
import java.util.Comparator
import scala.concurrent.duration.*

import munit.FunSuite

import weir.program.{Browser, Tier}
import weir.program.report.{ChartCard, RunReport, SampleReports}

/** The page in a real browser, at the width of a desktop and of a phone.
  *
  * Screenshots are left in `lab/target/screenshots`, to be looked at.
  */
class BrowserSuite extends FunSuite:
  override def munitTimeout: Duration = 2.minutes

  private val binary = Browser.find()
  private val folder = Files.createTempDirectory("weir-browser")
  private lazy val browser = Browser.shared

  override def beforeAll(): Unit =
    if binary.isEmpty then
      println("BrowserSuite is skipped: there is no chromium or google-chrome on the PATH")

  override def afterEach(context: AfterEach): Unit =
    if binary.nonEmpty then browser.closeTabs()

  override def afterAll(): Unit =
    Files.walk(folder).sorted(Comparator.reverseOrder).forEach(Files.deleteIfExists(_): Unit)

  private def page(report: RunReport): Path =
    val file = folder.resolve(s"${report.command}.html")
    report.write(report = Some(file))
    file

  private def keep(name: String, png: Array[Byte]): Unit =
    val target = Path.of(sys.props.getOrElse("weir.screenshots", "target/screenshots"))
    Files.createDirectories(target)
    val _ = Files.write(target.resolve(s"$name.png"), png)

  for
    report <- SampleReports.all
    (screen, width, height) <- List(("desktop", 1280, 900), ("small", 360, 740)) ++
      Tier(Nil, List(("phone", 390, 844)))
  do
    test(s"${report.command}: charts with data, no error, no request, no overflow: $screen"):
      assume(binary.nonEmpty, "there is no Chromium")
      val file = page(report)
      val tab = browser.open(file, width, height, isDark = screen == "small")
      val cards = ChartCard.of(report.results)
      val bars = cards.flatMap(_.blocks).flatMap(_.bars)
      keep(s"${report.command}-$screen", tab.screenshot())

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
    assume(binary.nonEmpty, "there is no Chromium")
    val tab = browser.open(page(SampleReports.clients), 1280, 900)
    val fetched = tab.evaluate(
      "fetch('http://127.0.0.1:1/').then(() => 'answered', () => 'refused')"
    )
    assertEquals(fetched.str, "refused")
    assert(tab.problems.exists(_.contains("Content Security Policy")), tab.problems)

  test("the charts are drawn anew when the page becomes narrow"):
    assume(binary.nonEmpty, "there is no Chromium")
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

  /** The texts of charts that reach beyond their chart. */
  private val cutTexts =
    """[...document.querySelectorAll('.chart svg')].flatMap(svg => {
      |  const edge = svg.getBoundingClientRect();
      |  return [...svg.querySelectorAll('text')]
      |    .filter(text => {
      |      const box = text.getBoundingClientRect();
      |      return box.right > edge.right + 1 || box.left < edge.left - 1 ||
      |        box.top < edge.top - 1 || box.bottom > edge.bottom + 1;
      |    })
      |    .map(text => text.textContent);
      |})""".stripMargin
