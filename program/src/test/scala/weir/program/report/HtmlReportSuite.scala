package weir.program.report

import java.security.MessageDigest
import java.time.Instant
import java.util.Base64

import munit.FunSuite

/** Tests the page without a browser. */
class HtmlReportSuite extends FunSuite:
  private val at = Instant.parse("2026-02-03T04:05:06Z")
  private def page(report: RunReport) = HtmlReport.page(report, at)

  test("the header says what was measured, and where"):
    val html = page(SampleReports.gather)
    for text <- List("gather", "abc1234", "25.0.3+9-LTS", "2026-02-03 04:05 UTC") do
      assert(html.contains(text), text)

  test("every figure is in the tables"):
    for report <- SampleReports.all do
      val html = page(report)
      for bar <- ChartCard.of(report.results).flatMap(_.blocks).flatMap(_.bars) do
        assert(html.contains(s">${bar.text}</td>"), bar)

  test("nothing is loaded from anywhere"):
    for report <- SampleReports.all do
      val html = page(report)
      assert(html.contains("default-src 'none'"))
      val own = html.replace(ChartScript.echarts, "")
      assertEquals("""(?i)\s(src|href)="(?!data:)""".r.findFirstIn(own), None)

  test("the policy knows exactly the scripts of the page"):
    val html = page(SampleReports.gather)
    val scripts = "(?s)<script>(.*?)</script>".r.findAllMatchIn(html).map(_.group(1)).toVector
    assertEquals(scripts.size, 3)
    for script <- scripts do
      val digest = MessageDigest.getInstance("SHA-256").digest(script.getBytes("UTF-8"))
      assert(html.contains(s"'sha256-${Base64.getEncoder.encodeToString(digest)}'"))

  test("names are text, whatever is in them"):
    val html = page(SampleReports.feeds)
    assert(!html.contains("<script>alert"))
    assert(html.contains("&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;co&quot;"))

  test("the licence of the chart library is in the page"):
    assert(page(SampleReports.gather).contains("Licensed to the Apache Software Foundation"))
