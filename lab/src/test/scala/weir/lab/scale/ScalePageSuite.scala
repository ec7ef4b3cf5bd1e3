package weir.lab.scale

import java.nio.file.Files

import weir.program.BrowserTests

/** The page, in a real browser where there is one. */
class ScalePageSuite extends BrowserTests:

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
    test(s"charts with data, no error, no request, no overflow: $screen"):
      needsBrowser()
      val page = files.resolve(s"scale-$screen.html")
      val file = Files.writeString(page, ScalePage.html(SampleScale.whole))
      val tab = browser.open(file, width, 900, isDark)
      keep(s"scale-$screen", tab)
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
