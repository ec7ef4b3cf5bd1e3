package weir.lab.gather

import weir.program.Result

class GatherTableSuite extends munit.FunSuite:
  private def result(name: String, system: String, value: Double): Result =
    Result.opsPerSecond(name, system, value)

  test("a line for each case, a column for each system, and the ratio to the best rival"):
    val table = GatherTable.lines(
      Seq(
        result("gather ready: 10", "zio", 250),
        result("gather ready: 10", "weir", 1000),
        result("gather ready: 10", "ox", 500),
        result("sequence ready: 10", "weir", 2500),
        result("sequence ready: 10", "zio", 2000)
      )
    )
    assertEquals(
      table.map(_.split("  +").toSeq),
      Vector(
        Seq("runs a second", "weir", "zio", "ox", "weir / best rival"),
        Seq(table(1)),
        Seq("gather ready: 10", "1,000", "250", "500", "2.0x ox"),
        Seq("sequence ready: 10", "2,500", "2,000", "-", "1.3x zio")
      )
    )

  test("without a rival, or without Weir, there is no ratio"):
    val alone = GatherTable.lines(Seq(result("gather ready: 10", "weir", 1000)))
    assert(alone.last.endsWith("1,000"), alone)
    val without = GatherTable.lines(Seq(result("gather ready: 10", "ox", 500)))
    assert(without.last.endsWith("500"), without)

  test("no figures, no table"):
    assertEquals(GatherTable.lines(Nil), Vector.empty)
