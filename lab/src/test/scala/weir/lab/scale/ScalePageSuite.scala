package weir.lab.scale

import java.nio.file.{Files, Path}
import scala.concurrent.duration.*

import munit.FunSuite

import weir.program.{Browser, TempFolder}

/** The page, in a real browser where there is one. */
class ScalePageSuite extends FunSuite with TempFolder:
  override def munitTimeout: Duration = 2.minutes

  override def afterEach(context: AfterEach): Unit =
    if Browser.find().nonEmpty then Browser.shared.closeTabs()

  test("every figure and every note is in the page, as text"):
    val html = ScalePage.html(SampleScale.whole)
    for
      card <- ScalePage.cards(SampleScale.whole)
      row <- card.lines.map(_.row) ++ card.counts
      cell <- row.cells
      if cell.text.nonEmpty
    do assert(html.contains(s">${cell.text}<"), cell)
    assert(html.contains("The machine is &quot;small&quot; &amp; &lt;new&gt;."))

  test("the picture has a line for each system of the chosen rows"):
    val svg = ScalePage.svg(SampleScale.whole, _ == "fork-tree")
    for text <- List("fork and join: a tree", "weir", "fork-join", "ideal", "16x") do
      assert(svg.contains(text), text)
    assert(!svg.contains("mutex"))

  for (screen, width, isDark) <- List(("desktop", 1280, false), ("small", 360, true)) do
    folder.test(s"charts with data, no error, no request, no overflow: $screen"): folder =>
      assume(Browser.find().nonEmpty, "there is no Chromium")
      val file = Files.writeString(folder.resolve("scale.html"), ScalePage.html(SampleScale.whole))
      val tab = Browser.shared.open(file, width, 900, isDark)
      val target = Path.of(sys.props.getOrElse("weir.screenshots", "target/screenshots"))
      Files.createDirectories(target)
      Files.write(target.resolve(s"scale-$screen.png"), tab.screenshot()): Unit
      assertEquals(tab.problems, Vector.empty)
      assertEquals(tab.requests.distinct.filterNot(_ == "data:,"), Vector(file.toUri.toString))
      assertEquals(tab.evaluate("document.documentElement.scrollWidth").num.toInt, width)
      assertEquals(tab.evaluate(cutTexts).arr.map(_.str).toVector, Vector.empty)
      val points = ScalePage.cards(SampleScale.whole).flatMap(_.lines).map(_.points.size).sum
      assertEquals(tab.evaluate(drawnPoints).num.toInt, points)

  /** The number of points that the lines have, without the ideal ones. */
  private val drawnPoints =
    """[...document.querySelectorAll('.chart')].reduce((sum, place) =>
      |  sum + echarts.getInstanceByDom(place).getOption().series
      |    .filter(series => series.name !== 'ideal')
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
