package weir.feeds.run

import scala.concurrent.duration.*

import munit.FunSuite

import weir.feeds.fetch.Reason
import weir.feeds.input.FeedUrl
import weir.feeds.store.{DueFeed, Recorded}

class FeedCountsSuite extends FunSuite:
  private val url = FeedUrl.parse("http://a.example/").toOption.get

  /** Returns the counts after one check. */
  private def checked(
      reason: Reason,
      failures: Int = 0,
      stored: Recorded = Recorded(0, 0)
  ): FeedCounts.Snapshot =
    val counts = FeedCounts(1, Duration.Zero)
    val attempt = FetchAttempt(DueFeed(1, url, None, None, failures, 0, 1)).afterTry(1.milli)
    counts.count(attempt, reason, Some("why"), 0, stored)
    counts.snapshot()

  test("a new item, a changed one, and a feed that begins or ceases to fail are news"):
    assert(checked(Reason.Fetched, stored = Recorded(1, 0)).hasNews)
    assert(checked(Reason.Fetched, stored = Recorded(0, 1)).hasNews)
    assert(checked(Reason.NotFound).hasNews)
    assert(checked(Reason.NotModified, failures = 3).hasNews)

  test("a feed that is as it was is no news, be it failing or not"):
    assert(!checked(Reason.NotModified).hasNews)
    assert(!checked(Reason.Fetched).hasNews)
    assert(!checked(Reason.NotFound, failures = 3).hasNews)

  test("what fails is kept, with its reason"):
    val failed = Vector(FeedCounts.Failed("http://a.example/", "404 not found: why"))
    assertEquals(checked(Reason.NotFound).failures, failed)
    assertEquals(checked(Reason.Fetched).failures, Vector())
