package weir.feeds.run

import munit.FunSuite

import weir.feeds.input.FeedUrl
import weir.feeds.store.DueFeed

class FetchAttemptSuite extends FunSuite:
  private def attempt(id: Int, expected: Long) =
    val url = FeedUrl.parse(s"http://a.example/$id").toOption.get
    FetchAttempt(DueFeed(id.toLong, url, None, None, 0, 0, expected))

  private def ids(attempts: Seq[FetchAttempt], seed: Long) =
    attempts.sortBy(-_.priority(seed)).map(_.feed.id.toInt)

  test("the longest expected feed goes first"):
    val attempts =
      List(attempt(1, 5), attempt(2, 50), attempt(3, 20), attempt(4, 0), attempt(5, 600_000))
    for seed <- 1L to 20L do assertEquals(ids(attempts, seed), List(5, 2, 3, 1, 4))

  test("feeds that take about as long go in another order in each process"):
    val attempts = Vector.tabulate(20)(i => attempt(i, expected = 64L + i))
    assertEquals((1L to 3L).map(ids(attempts, _)).distinct.size, 3)
