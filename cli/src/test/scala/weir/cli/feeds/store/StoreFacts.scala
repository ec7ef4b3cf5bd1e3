package weir.cli.feeds.store

import java.util.concurrent.CountDownLatch
import scala.concurrent.duration.*

import munit.FunSuite

import weir.cli.feeds.input.{FeedUrl, NewFeed}

/** What must hold of the store on every database. */
trait StoreFacts:
  self: FunSuite =>

  /** Runs `body` with a database that nothing has been stored in. */
  def withDatabase(body: Database => Unit): Unit

  private def url(number: Int) = FeedUrl.parse(s"http://a.example/$number").toOption.get

  private def feeds(count: Int) =
    (1 to count).map(n => NewFeed(url(n), Some(s"Feed $n"), (n * 10L).millis))

  private def withStore(body: FeedStore => Unit): Unit = withDatabase: database =>
    val store = FeedStore.open(database)
    try body(store)
    finally store.close()

  private val now = 1_000_000_000L
  private val query = DueQuery(now, staleMillis = 3_600_000)

  private def due(store: FeedStore, query: DueQuery = query, pageSize: Int = 2) =
    List(0, 1).flatMap: half =>
      val cursor = store.cursor(query, half, pageSize)
      try Iterator.continually(cursor.nextPage()).takeWhile(_.nonEmpty).flatten.toList
      finally cursor.close()

  private def check(feed: DueFeed, items: String*) =
    Check(
      feed = feed,
      atMillis = now,
      tookMillis = 5,
      outcome = "fetched",
      error = None,
      failures = 0,
      holdOffMillis = 0,
      disabled = false,
      movedTo = None,
      found = Some(
        Check.Found(
          Some("T"),
          Some("etag"),
          None,
          items.map(guid => Item(guid, None, Some(guid), Some(1L), None)).toVector
        )
      )
    )

  test("a database is made once and opened again"):
    withDatabase: database =>
      assert(!database.exists())
      FeedStore.open(database).close()
      assert(database.exists())
      val store = FeedStore.open(database)
      store.setFact("colour", "blue")
      store.setFact("colour", "green")
      assertEquals(store.fact("colour"), Some("green"))
      store.close()

  test("a feed is added once"):
    withStore: store =>
      assertEquals(store.add(feeds(3)), 3)
      assertEquals(store.add(feeds(5)), 2)
      assertEquals(store.size(), 5L)

  test("both halves together are all due feeds, each once, the longest first"):
    withStore: store =>
      store.add(feeds(7)): Unit
      val all = due(store)
      assertEquals(all.map(_.url).toSet, feeds(7).map(_.url).toSet)
      assertEquals(all.size, 7)
      val cursor = store.cursor(query, 1, 100)
      val half = cursor.nextPage().map(_.expectedMillis)
      cursor.close()
      assertEquals(half, half.sorted.reverse)
      assertEquals(store.amount(query), DueQuery.Amount(7, 280))

  test("a checked feed is due again when it is stale, not before"):
    withStore: store =>
      store.add(feeds(1)): Unit
      store.record(check(due(store).head)): Unit
      assertEquals(due(store), Nil)
      assertEquals(store.nextAtMillis(query), Some(now + 3_600_000))
      assertEquals(due(store, query.copy(asOfMillis = now + 3_600_000)), Nil)
      val again = due(store, query.copy(asOfMillis = now + 3_600_001))
      assertEquals(again.map(_.etag), List(Some("etag")))

  test("a feed that is held off is due only then, and a disabled one never"):
    withStore: store =>
      store.add(feeds(2)): Unit
      val List(first, second) = due(store).sortBy(_.id): @unchecked
      store.record(check(first).copy(holdOffMillis = 9_000_000, failures = 2)): Unit
      store.record(check(second).copy(disabled = true)): Unit
      assertEquals(due(store, query.copy(asOfMillis = now + 9_000_000)), Nil)
      val later = due(store, query.copy(asOfMillis = now + 9_000_001))
      assertEquals(later.map(feed => (feed.id, feed.failures)), List((first.id, 2)))

  test("an item is stored once, and only the new ones are counted"):
    withStore: store =>
      store.add(feeds(2)): Unit
      val List(first, second) = due(store).sortBy(_.id): @unchecked
      assertEquals(store.record(check(first, "a", "b")), 2)
      assertEquals(store.record(check(first, "b", "c", "c")), 1)
      assertEquals(store.record(check(second, "a")), 1)

  test("a check that cannot be stored whole is not stored at all"):
    withStore: store =>
      store.add(feeds(1)): Unit
      val feed = due(store).head
      val bad = check(feed, "a").copy(found =
        check(feed, "a").found.map(found =>
          found.copy(items = found.items :+ Item(null, None, None, None, None))
        )
      )
      intercept[Exception](store.record(bad)): Unit
      assertEquals(due(store).size, 1)
      assertEquals(store.record(check(feed, "a")), 1)

  test("a moved feed gets its new address, unless another has it"):
    withStore: store =>
      store.add(feeds(2)): Unit
      val List(first, second) = due(store).sortBy(_.id): @unchecked
      store.record(check(first).copy(movedTo = Some(url(9)))): Unit
      store.record(check(second).copy(movedTo = Some(url(9)))): Unit
      val later = due(store, query.copy(asOfMillis = now * 2)).sortBy(_.id)
      assertEquals(later.map(_.url), List(url(9), url(2)))

  test("two processes may write at once, and neither stores an item twice"):
    withDatabase: database =>
      val stores = List.fill(2)(FeedStore.open(database))
      stores.head.add(feeds(20)): Unit
      val all = due(stores.head, pageSize = 100)
      val start = CountDownLatch(1)
      val results = stores.map: store =>
        val added = java.util.concurrent.CompletableFuture[Int]()
        Thread
          .ofVirtual()
          .start: () =>
            start.await()
            try
              val _ = added.complete(all.map(feed => store.record(check(feed, "a", "b"))).sum)
            catch
              case error: Throwable =>
                val _ = added.completeExceptionally(error)
        added
      start.countDown()
      assertEquals(results.map(_.get()).sum, 40)
      stores.foreach(_.close())
