package weir.postgres.jobs

import weir.WeirSuite

class PartRowsSuite extends WeirSuite:
  test("a row of a part is found in the body, also in a chunk that has not ended"):
    val rows = PartRows(2)
    for (part, count) <- Seq((0, 3L), (1, 5L), (0, 2L), (1, 1L)) do
      rows.begins(part)
      rows.ends(part, count)
    rows.begins(0)
    assertEquals((1 to 7).map(row => rows.inBody(0, row)), Vector[Long](1, 2, 3, 9, 10, 12, 13))
    assertEquals((1 to 6).map(row => rows.inBody(1, row)), Vector[Long](4, 5, 6, 7, 8, 11))

  test("a chunk of no rows hides none"):
    val rows = PartRows(1)
    for count <- Seq(2L, 0L, 2L) do
      rows.begins(0)
      rows.ends(0, count)
    assertEquals((1 to 5).map(row => rows.inBody(0, row)), Vector[Long](1, 2, 3, 4, 5))

  test("a thousand chunks"):
    val rows = PartRows(3)
    for i <- 0 until 1000 do
      rows.begins(i % 3)
      rows.ends(i % 3, 10)
    for i <- 0 until 1000 do
      assertEquals(rows.inBody(i % 3, (i / 3) * 10 + 1), i * 10L + 1)
      assertEquals(rows.inBody(i % 3, (i / 3) * 10 + 10), i * 10L + 10)
