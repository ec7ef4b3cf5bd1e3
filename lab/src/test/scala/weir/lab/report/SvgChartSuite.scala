package weir.lab.report

import java.io.ByteArrayInputStream
import javax.xml.parsers.DocumentBuilderFactory

import munit.FunSuite

import weir.program.report.{ChartCard, SampleReports}

/** The charts as a file, which also shows without a browser that the page's script draws. */
class SvgChartSuite extends FunSuite:
  test("every figure is written at a bar of its length"):
    val report = SampleReports.clients
    val svg = SvgChart.draw(report)
    val document = DocumentBuilderFactory
      .newInstance()
      .newDocumentBuilder()
      .parse(ByteArrayInputStream(svg.getBytes("UTF-8")))
    val texts = document.getDocumentElement.getTextContent
    val bars = ChartCard.of(report.results).flatMap(_.blocks).flatMap(_.bars)
    for bar <- bars do assert(texts.contains(bar.text), bar.text)
    // A bar begins at the axis and ends in a round corner: M left top L right top A 3 3 0 0 1 end
    // ...
    val path = "<path d=\"M([\\d.]+) \\S+L\\S+ [\\d.]+A\\S+ \\S+ 0 0 1 ([\\d.]+) ".r
    val drawn =
      path.findAllMatchIn(svg).map(m => m.group(2).toDouble - m.group(1).toDouble).toVector
    assertEquals(drawn.size, bars.size)
    for (length, bar) <- drawn.zip(bars) do
      assertEqualsDouble(length / drawn.max, bar.value / bars.map(_.value).max, 0.01, bar.name)

  test("the value and the ratio beside a bar do not touch"):
    val svg = SvgChart.draw(SampleReports.clients)
    // The second piece of a line has its own x: after the first, at 6 pixels a letter or
    // more.
    val ratio = "x=\"([\\d.]+)\"[^>]*>\\s*19.9x</text>".r.findFirstMatchIn(svg)
    assert(ratio.exists(_.group(1).toDouble > 6 * "40,012 ms".length), ratio.map(_.matched))

  test("the file names the command, the commit and nothing to load"):
    val svg = SvgChart.draw(SampleReports.clients)
    assert(svg.contains("weir clients"))
    assert(svg.contains("abc1234"))
    assertEquals("(href|url\\()".r.findFirstIn(svg), None)
