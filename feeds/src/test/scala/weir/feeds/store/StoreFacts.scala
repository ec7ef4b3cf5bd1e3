package weir.feeds.store

import java.util.concurrent.CountDownLatch
import scala.concurrent.duration.*

import munit.FunSuite

import weir.feeds.input.{FeedUrl, NewFeed}

/** The facts about the store, for every database. */
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
    val all = items.map(guid => Item(guid, None, Some(guid), Some(1L), None))
    Checks.fetched(feed, now, all, FeedAbout(Some("T")), Some("etag"))

  test("a database is made once and opened again"):
    withDatabase: database =>
      assertEquals(database.version(), None)
      FeedStore.open(database).close()
      assertEquals(database.version(), Some(Schema.version))
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

  test("a feed that is held off is due only then, one that is gone too, and a disabled one never"):
    withStore: store =>
      store.add(feeds(3)): Unit
      val List(first, second, third) = due(store).sortBy(_.id): @unchecked
      store.record(check(first).copy(holdOffMillis = 9_000_000, failures = 2)): Unit
      store.record(check(second).copy(isGone = true, holdOffMillis = 9_500_000)): Unit
      assert(FeedEdits(store).disable(third.id))
      store.record(check(third)): Unit // that was under way
      assertEquals(due(store, query.copy(asOfMillis = now + 9_000_000)), Nil)
      val later = due(store, query.copy(asOfMillis = now + 9_000_001))
      assertEquals(later.map(feed => (feed.id, feed.failures)), List((first.id, 2)))
      val last = due(store, query.copy(asOfMillis = now + 9_500_001))
      assertEquals(last.map(_.id).toSet, Set(first.id, second.id))

  test("a feed is not due in the hours that it skips, and then it is"):
    withStore: store =>
      store.add(feeds(1)): Unit
      val later = query.copy(asOfMillis = now + 3_600_001)
      val skips = SkippedTimes(SkippedTimes.bitsOf(later.asOfMillis) & 0xffffff)
      val feed = due(store).head
      store.record(check(feed).copy(found = check(feed).found.map(_.copy(skips = skips)))): Unit
      val leases = store.lease(1.minute)
      assertEquals(due(store, later), Nil)
      assertEquals(store.amount(later).feeds, 0L)
      assertEquals(leases.take(feed, later, None), Leases.Answer.Done)
      val nextHour = SkippedTimes.nextHour(later.asOfMillis)
      assertEquals(store.nextAtMillis(later), Some(nextHour))
      assertEquals(due(store, query.copy(asOfMillis = nextHour)).map(_.id), List(feed.id))
      leases.close()

  test("an item is stored once, and only the new ones are counted"):
    withStore: store =>
      store.add(feeds(2)): Unit
      val List(first, second) = due(store).sortBy(_.id): @unchecked
      assertEquals(store.record(check(first, "a", "b")), 2)
      assertEquals(store.record(check(first, "b", "c")), 1)
      assertEquals(store.record(check(second, "a")), 1)

  test("items of one guid that differ are all stored, and once"):
    withStore: store =>
      store.add(feeds(1)): Unit
      val feed = due(store).head
      def found(titles: String*) =
        val items =
          titles.map(title => Item("g", Some("u"), Some(title), None, Some(s"$title text")))
        check(feed).copy(found = check(feed).found.map(_.copy(items = items.toVector)))
      assertEquals(store.record(found("a", "b", "c", "c")), 4)
      assertEquals(store.record(found("a", "b", "c", "c")), 0)
      assertEquals(store.record(found("d", "a", "b", "c", "c", "c")), 2)

  test("a feed of very many items is compared in no more than some seconds"):
    withStore: store =>
      store.add(feeds(1)): Unit
      val many = check(due(store).head, (1 to 20_000).map(_.toString)*)
      assertEquals(store.record(many), 20_000)
      assertEquals(store.record(many), 0)

  test("a feed that a page led to gets its own address, unless the page was a feed before"):
    withStore: store =>
      store.add(feeds(2)): Unit
      val List(first, second) = due(store).sortBy(_.id): @unchecked
      store.record(check(first, "a").copy(livesAt = Some(url(8)))): Unit
      store.record(check(second, "a")): Unit
      store.record(check(second, "b").copy(livesAt = Some(url(9)))): Unit
      val later = due(store, query.copy(asOfMillis = now * 2)).sortBy(_.id)
      assertEquals(later.map(_.url), List(url(8), url(2)))

  /** A database as version 1 made it, with one feed that has these items. */
  def withVersion1(items: Seq[Item])(body: Database => Unit): Unit

  test("a database of version 1 is brought up to date, with all that is in it"):
    val day = 86_400_000L
    val old = Vector(
      Item("g1", Some("http://a.example/x"), Some("One"), Some(day), Some("s")),
      Item("posts/2", Some("posts/2"), None, Some(-50_000_000L * 365 * day), None),
      Item(TextDigest.of("No name 5"), None, Some("No name"), Some(5), Some("text")),
      Item("f" * 64, None, Some("A digest as guid"), None, None)
    )
    withVersion1(old): database =>
      assertEquals(database.version(), Some(1))
      val store = FeedStore.open(database)
      assertEquals(database.version(), Some(Schema.version))
      assertEquals(store.fact("colour"), Some("blue"))
      val feed = due(store).head
      val found = Vector(
        old(0).copy(content = Some("more")),
        Item("http://a.example/posts/2", Some("http://a.example/posts/2"), None, None, None),
        Item(
          ItemName.of(None, None, Some("No name"), Some("text")),
          None,
          Some("No name"),
          None,
          Some("text")
        ),
        old(3),
        Item("g1", Some("http://a.example/y"), Some("Two"), None, None)
      )
      def record() =
        store.record(check(feed).copy(found = check(feed).found.map(_.copy(items = found))))
      assertEquals(record(), 1)
      assertEquals(record(), 0)
      store.close()
      val connection = database.connect()
      val dates = Sql.query(connection, "SELECT published_at FROM item ORDER BY id")(): row =>
        Option(row.getObject(1)).map(_.toString.toLong)
      assertEquals(dates.take(2), Vector(Some(day), None))
      assertEquals(feed.etag, None)
      connection.close()
      FeedStore.open(database).close()

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

  test("a moved feed gets its new address"):
    withStore: store =>
      store.add(feeds(2)): Unit
      val first = due(store).minBy(_.id)
      store.record(check(first).copy(movedTo = Some(url(9)))): Unit
      val later = due(store, query.copy(asOfMillis = now * 2)).sortBy(_.id)
      assertEquals(later.map(_.url), List(url(9), url(2)))
      assertEquals(store.add(feeds(3)), 1) // the list still has the old address of the first

  /** The feeds and their items, as `number of the feed guid`. */
  private def itemsOf(store: FeedStore): List[String] = store.reading: connection =>
    Sql
      .query(connection, "SELECT feed_id, guid FROM item ORDER BY feed_id, guid")()(row =>
        s"${row.getLong(1)} ${row.getString(2)}"
      )
      .toList

  test("a feed that moves to where another is becomes a part of it, each item once"):
    withStore: store =>
      store.add(feeds(3)): Unit
      val List(first, second, third) = due(store).sortBy(_.id): @unchecked
      store.record(check(first, "a", "only here")): Unit
      store.record(check(second, "a", "b")): Unit
      val month = 2_592_000_000L
      store.record(check(third, "x").copy(isGone = true, holdOffMillis = month)): Unit
      assertEquals(store.record(check(first, "b", "new").copy(movedTo = Some(url(2)))), 1)
      val id = second.id
      assertEquals(
        itemsOf(store),
        List(s"$id a", s"$id b", s"$id new", s"$id only here", s"${third.id} x")
      )
      val later = due(store, query.copy(asOfMillis = now * 2))
      assertEquals(later.map(feed => (feed.id, feed.url)), List((id, url(2))))
      assertEquals(store.add(feeds(3)), 0) // the list still has both addresses
      // The check counts for the other feed, so that is not due. A feed that was gone is back.
      store.record(check(later.head).copy(movedTo = Some(url(3)))): Unit
      assertEquals(due(store), Nil)
      assertEquals(due(store, query.copy(asOfMillis = now * 2)).map(_.url), List(url(3)))
      assertEquals((store.size(), store.add(feeds(3))), (1L, 0))

  test("entries that share a guid stay apart when feeds become one"):
    withStore: store =>
      store.add(feeds(2)): Unit
      val List(first, second) = due(store).sortBy(_.id): @unchecked
      def item(title: String) = Item("same", None, Some(title), None, None)
      def found(titles: String*) =
        Some(Check.Found(FeedAbout(None), None, None, 0, titles.map(item).toVector))
      store.record(check(first).copy(found = found("one", "two"))): Unit
      store.record(check(second).copy(found = found("two", "three"))): Unit
      store.record(check(first).copy(found = found("one"), movedTo = Some(url(2)))): Unit
      assertEquals(itemsOf(store), List.fill(3)(s"${second.id} same"))

  test("an answer of nothing new may bring new validators, and those that it has not stay"):
    withStore: store =>
      store.add(feeds(1)): Unit
      val later = query.copy(asOfMillis = now * 2)
      store.record(check(due(store).head, "a")): Unit
      def answered(etag: Option[String], lastModified: Option[String]) =
        val renewed = Some(Check.Validators(etag, lastModified))
        val feed = due(store, later).head
        store.record(check(feed).copy(found = None, renewed = renewed)): Unit
        val next = due(store, later).head
        (next.etag, next.lastModified)
      assertEquals(answered(Some("new"), None), (Some("new"), None))
      assertEquals(answered(None, Some("today")), (Some("new"), Some("today")))
      assertEquals(answered(None, None), (Some("new"), Some("today")))

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
