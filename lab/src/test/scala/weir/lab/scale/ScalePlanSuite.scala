package weir.lab.scale

import weir.program.Systems

/** Command and measuring JVMs find the same rows by the same names. */
class ScalePlanSuite extends munit.FunSuite:
  test("ids and titles are distinct, and an id fits into an option"):
    val rows = ScalePlan.rows
    assertEquals(rows.map(_.id).distinct, rows.map(_.id))
    assertEquals(rows.map(_.title).distinct, rows.map(_.title))
    assert(rows.forall(_.id.matches("[a-z0-9-]+")), rows.map(_.id))
    for row <- rows do assertEquals(ScaleRow.of(row.id), row)

  test("a case is read back as the row and the carriers that it was made of"):
    for row <- ScalePlan.rows; carriers <- List(1, 64) do
      assertEquals(
        ScalePlan.parseCase(ScalePlan.caseOf(row, carriers)),
        Some(row -> carriers)
      )
    for other <- List("", "yields", "yields: ", "yields: x", "gather forked: 1000") do
      assertEquals(ScalePlan.parseCase(other), None, other)

  test("every row has Weir, and every system has a place in tables"):
    assert(ScalePlan.rows.forall(_.systems.contains(Systems.weir)))
    assertEquals(
      ScalePlan.systems,
      Vector("weir", "cats-effect", "fs2", "zio", "pekko", "fork-join", "virtual-threads")
    )
    assert(ScalePlan.systems.forall(Systems.all.contains))

  test("an unknown row is refused with the ids that there are"):
    val error = intercept[IllegalArgumentException](ScaleRow.of("forks"))
    assert(error.getMessage.contains("'forks'"), error.getMessage)
    assert(error.getMessage.contains("fork-tree"), error.getMessage)

  test("the units of counts are distinct"):
    for count <- ScaleCount.values do assertEquals(ScaleCount.ofUnit(count.unit), Some(count))
    assertEquals(ScaleCount.ofUnit("ops/s"), None)
