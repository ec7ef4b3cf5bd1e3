package weir.lab.scale

import munit.FunSuite

class ScaleTablesSuite extends FunSuite:
  private val row = ScaleRow.ForkTree
  private val steps = ScaleStep.all(Seq("weir", "fork-join"), Seq(1, 2), Seq(row))
  private val results = Vector(
    ScalePlan.speed(row, 1, "weir", 1_234_000),
    ScalePlan.speed(row, 2, "weir", 2_468_000),
    ScalePlan.speed(row, 1, "fork-join", 999.6)
  )
  private val cut = SampleScale
    .report(results, steps)
    .copy(
      hasEnded = false,
      notes = Vector.empty,
      problems = Vector("fork-join, 2 carriers: it took longer than 3.0 s")
    )

  test("a table has a line for each system, with operations and speed-up for each carrier"):
    assertEquals(
      ScaleTables.lines(cut).take(6),
      Vector(
        "",
        "fork and join: a tree: operations a second; one is",
        "  a fiber that computes a part of a Fibonacci number",
        "carriers        1             2",
        "--------------------------------",
        "weir        1.23M   2.47M 2.00x"
      ).map(line => if line.startsWith("---") then "-" * 31 else line)
    )
    assertEquals(ScaleTables.lines(cut)(6), "fork-join   1.00k")

  test("a run that was cut off says so, why, and what is missing"):
    assertEquals(
      ScaleTables.lines(cut).takeRight(6),
      Vector(
        "",
        "The run has not ended: it was cut off, or goes on.",
        "",
        "fork-join, 2 carriers: it took longer than 3.0 s",
        "",
        "Not measured: fork-join, 2 carriers: all its rows."
      )
    )

  test("Markdown has the same cells"):
    val lines = ScaleTables.markdown(cut)
    for line <- List(
        "### Fork and join: a tree",
        "| carriers | 1 | 2 |",
        "|---|--:|--:|",
        "| weir | 1.23M | 2.47M 2.00x |",
        "| fork-join | 1.00k |  |"
      )
    do assert(lines.contains(line), s"$line is not in $lines")

  test("numbers have three digits"):
    val shown = List(0.0, 1.234, 12.34, 123.4, 999.4, 1_234.0, 999_499.0, 999_600.0, 1.234e9)
    assertEquals(
      shown.map(ScaleTables.short),
      List("0.00", "1.23", "12.3", "123", "999", "1.23k", "999k", "1.00M", "1234M")
    )
    assertEquals(List(0.5, 1.234, 13.61).map(ScaleTables.times), List("0.50x", "1.23x", "13.6x"))

  test("a card has a line for each system, the margin with the most carriers, and Weir's counts"):
    val cards = ScalePage.cards(SampleScale.whole)
    assertEquals(cards.map(_.title), SampleScale.rows.map(_.title))
    val mutex = cards(1)
    assertEquals(mutex.ideal, 1.0)
    assertEquals(cards.head.ideal, 16.0)
    assertEquals(mutex.lines.head.row.system, "weir")
    assertEquals(mutex.lines.head.points.map(_._1), SampleScale.carriers)
    assertEquals(mutex.counts.map(_.name), Vector("contended CAS, CAS/1000 ops"))
    assertEquals(mutex.marginOver, "the best rival, 16 carriers")
    assert(mutex.margin.endsWith("x"), mutex.margin)
