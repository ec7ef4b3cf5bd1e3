package weir.cli.feeds.run

import munit.FunSuite

import weir.cli.feeds.input.FeedUrl
import weir.cli.feeds.store.DueFeed

class TurnSuite extends FunSuite:
  private def turn(id: Int, expected: Long) =
    val url = FeedUrl.parse(s"http://a.example/$id").toOption.get
    Turn(DueFeed(id.toLong, url, None, None, 0, 0, expected))

  private def ids(turns: Seq[Turn], seed: Long) =
    turns.sortBy(-_.priority(seed)).map(_.feed.id.toInt)

  test("the longest expected feed goes first"):
    val turns = List(turn(1, 5), turn(2, 50), turn(3, 20), turn(4, 0), turn(5, 600_000))
    for seed <- 1L to 20L do assertEquals(ids(turns, seed), List(5, 2, 3, 1, 4))

  test("feeds that take about as long go in another order in each process"):
    val turns = Vector.tabulate(20)(i => turn(i, expected = 64L + i))
    assertEquals((1L to 3L).map(ids(turns, _)).distinct.size, 3)
