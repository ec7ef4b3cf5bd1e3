package weir.program.report

import munit.FunSuite

import weir.program.Result
import weir.program.Result.{millis, opsPerSecond}

class ChartCardSuite extends FunSuite:
  private def only(results: Result*): ChartCard = ChartCard.of(results) match
    case Vector(card) => card
    case more => fail(s"there are ${more.size} cards")

  test("cases of a group are blocks of one card, with the bound and Weir first"):
    val card = only(
      millis("slow: batch", "fs2", 12),
      millis("slow: batch", "weir", 10),
      millis("slow: batch", "bound", 8),
      millis("slow: stream", "weir", 20)
    )
    assertEquals(card.title, "slow")
    assertEquals(card.blocks.map(_.name), Vector("batch", "stream"))
    assertEquals(card.blocks.head.bars.map(_.system), Vector("bound", "weir", "fs2"))

  test("a group measured in two units is two cards"):
    val cards = ChartCard.of(
      Seq(millis("burst: 10", "weir", 1), Result("burst: 10", "weir", 20, "threads", "lower"))
    )
    assertEquals(
      cards.map(card => (card.title, card.unit)),
      Vector(("burst", "ms"), ("burst", "threads"))
    )

  test("a ratio says how many times better Weir is, whichever way is better"):
    val slower = only(millis("a: b", "weir", 10), millis("a: b", "zio", 81))
    assertEquals(slower.blocks.head.bars.map(_.ratio), Vector("", "8.1x"))
    val faster = only(opsPerSecond("a: b", "weir", 10), opsPerSecond("a: b", "zio", 20))
    assertEquals(faster.blocks.head.bars.map(_.ratio), Vector("", "0.50x"))
    assertEquals(faster.blocks.head.bars.map(_.isBehindWeir), Vector(true, false))

  test("Weir is compared with the bound"):
    val card = only(millis("a: b", "bound", 1000), millis("a: b", "weir", 1012))
    assertEquals(card.blocks.head.bars.map(_.ratio), Vector("", "1.01x bound"))

  test("the margin is that over the best rival, from the worst case to the best"):
    val results = Seq(("a: 1", 10.0), ("a: 2", 20.0)).flatMap: (name, zio) =>
      Seq(millis(name, "weir", 5), millis(name, "zio", zio), millis(name, "ox", 100))
    assertEquals(only(results*).margin, "2.0x to 4.0x")
    assertEquals(only(millis("a: 1", "weir", 5)).margin, "")

  test("values that span more than 30 times are on a logarithmic scale below the least of them"):
    val near = only(millis("a: 1", "weir", 1), millis("a: 1", "zio", 30))
    assertEquals((near.isLog, near.blocks.head.low), (false, 0.0))
    val far = only(millis("a: 1", "weir", 1), millis("a: 1", "zio", 31))
    assert(far.isLog)
    assert(far.blocks.head.low > 0 && far.blocks.head.low < 1, far.blocks.head.low)

  test("cases share a scale unless one would be too small on it"):
    def highs(factor: Double) = only(
      millis("a: 1", "weir", 10),
      millis("a: 1", "zio", 20),
      millis("a: 2", "weir", 10 * factor),
      millis("a: 2", "zio", 20 * factor)
    ).blocks.map(_.high)
    assertEquals(highs(2), Vector(40.0, 40.0))
    assertEquals(highs(100), Vector(20.0, 2000.0))

  test("cases with one bar each are one block, whose bars bear their names"):
    val card = only(millis("load: a", "weir", 10), millis("load: b", "weir", 20))
    assertEquals(card.blocks.map(_.bars.map(_.name)), Vector(Vector("a", "b")))

  test("values of zero have a bar and no ratio"):
    val card = only(millis("a: 1", "weir", 0), millis("a: 1", "zio", 100), millis("a: 1", "ox", 1))
    assertEquals(card.blocks.head.bars.map(_.ratio), Vector("", "", ""))
    assert(card.blocks.head.low.isFinite)

  test("no results are no cards"):
    assertEquals(ChartCard.of(Nil), Vector.empty)
