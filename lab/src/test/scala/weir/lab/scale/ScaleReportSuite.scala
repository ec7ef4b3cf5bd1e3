package weir.lab.scale

import munit.FunSuite

import weir.program.Result

class ScaleReportSuite extends FunSuite:
  private val whole = SampleScale.whole

  test("a report comes back from its JSON"):
    val read = ScaleReport.parse(ujson.write(whole.toJson))
    assertEquals(read, Some(whole))

  test("what is no report is none"):
    for text <- List("", "{", "{}", "[]", """{"command":"gather"}""", """{"command":"scale"}""") do
      assertEquals(ScaleReport.parse(text), None, text)

  test("a row of another version is left out, with its figures"):
    val json = whole.toJson
    json("planned")(0)("rows").arr += "no-such-row"
    json("results").arr += Result.opsPerSecond("no-such-row: 1", "weir", 5).toJson
    val read = ScaleReport.parse(ujson.write(json)).get
    assertEquals(read.planned, whole.planned)
    assertEquals(read.figures, whole.figures)

  test("a speed-up is over one carrier, and there is none without that"):
    val row = ScaleRow.ForkTree
    def at(carriers: Int) = ScaleReport.Case("weir", row, carriers)
    val results =
      Vector(1 -> 10.0, 4 -> 35.0).map((n, value) => ScalePlan.speed(row, n, "weir", value))
    val report = SampleScale.report(results, Vector.empty)
    assertEquals(report.speedUp(at(4)), Some(3.5))
    assertEquals(report.speedUp(at(2)), None)
    val without = SampleScale.report(results.drop(1), Vector.empty)
    assertEquals(without.speedUp(at(4)), None)

  test("what was planned and has no figure is missing, whatever else there is of it"):
    val steps = ScaleStep.all(Seq("weir", "zio"), Seq(1), SampleScale.rows.take(2))
    val results = Vector(ScalePlan.speed(ScaleRow.ForkTree, 1, "weir", 5))
    val missing = SampleScale.report(results, steps).missing
    assertEquals(missing.map(_.label), Vector("weir, 1 carrier", "zio, 1 carrier"))
    assertEquals(
      missing.map(_.rows.map(_.id)),
      Vector(Vector("mutex"), Vector("fork-tree", "mutex"))
    )
    assertEquals(whole.missing, Vector.empty)

  test("counts that are zero with every number of carriers are left out"):
    val counts = whole.counts(ScaleRow.Mutex, "weir")
    assertEquals(counts.map(_._1.title), Vector("contended CAS"))
    assertEquals(counts.head._2, Map(1 -> 0.0, 2 -> 1.0, 4 -> 3.0, 8 -> 7.0, 16 -> 15.0))
    assertEquals(whole.counts(ScaleRow.Mutex, "zio"), Vector.empty)
