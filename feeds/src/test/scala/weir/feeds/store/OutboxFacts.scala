package weir.feeds.store

import scala.concurrent.duration.*

import munit.FunSuite

import weir.feeds.input.{FeedUrl, NewFeed}

/** The facts about items to give and about removed items, for every database. */
trait OutboxFacts:
  self: FunSuite =>

  def withDatabase(body: Database => Unit): Unit

  private def url(path: String) = FeedUrl.parse(s"http://a.example/$path").toOption.get

  private final class Stored(database: Database, val store: FeedStore):
    store.add(Seq(NewFeed(url("1"), None), NewFeed(url("2"), None))): Unit
    val ids: Vector[Long] =
      Vector("1", "2").map(path => store.reading(FeedLookup.idOf(_, url(path))).get)

    def record(feed: Int, atMillis: Long, items: Item*): Int =
      store.record(check(feed, atMillis, items*))

    def check(feed: Int, atMillis: Long, items: Item*): Check =
      Checks.fetched(DueFeed(ids(feed - 1), url(s"$feed"), None, None, 0, 0, 1), atMillis, items)

    def outbox(worker: Long): Outbox = Outbox(store, database, worker)

    def titles: Vector[String] =
      store.reading(ItemQuery().page(_, None, 100)).flatMap(_.title).sorted

    def sweep(nowMillis: Long, age: Option[FiniteDuration], perFeed: Option[Int]): Int =
      val sweep = RetentionSweep(store, database, Retention(age, perFeed))
      Iterator.continually(sweep.removeSome(nowMillis)).takeWhile(_ > 0).sum

    def remembered: Long =
      store.reading(Sql.query(_, "SELECT count(*) FROM removed_item")()(_.getLong(1)).head)

  private def withStored(fillsOutbox: Boolean)(body: Stored => Unit): Unit =
    withDatabase: database =>
      val store = FeedStore.open(database, fillsOutbox = fillsOutbox)
      try body(Stored(database, store))
      finally store.close()

  private def item(guid: String, title: String = "") =
    Item(guid, None, Some(if title.isEmpty then guid else title), None, None)

  private def taken(outbox: Outbox, last: Long = 0): Vector[String] =
    outbox.page(last, 100).flatMap(outbox.take).flatMap((item, _) => item.title)

  test("new items are to be given in the order in which they were stored, changed ones are not"):
    withStored(fillsOutbox = true): feeds =>
      feeds.record(1, 1, item("a"), item("b")): Unit
      feeds.record(2, 1, item("a", "other")): Unit
      feeds.record(1, 1, item("c"), item("b", "changed"), item("a")): Unit
      val outbox = feeds.outbox(7)
      assertEquals(outbox.page(0, 2).size, 2)
      assertEquals(taken(outbox), Vector("a", "changed", "other", "c"))
      assertEquals(taken(outbox).size, 4) // they are not given yet
      outbox.page(0, 100).foreach(outbox.remove)
      assertEquals(outbox.page(0, 100), Vector.empty)

  test("a store that is not to fill the outbox leaves it empty, and keeps what is in it"):
    withStored(fillsOutbox = false): feeds =>
      feeds.record(1, 1, item("a")): Unit
      assertEquals(feeds.outbox(7).page(0, 100), Vector.empty)

  test("an item that a living process gives is left alone by others, that of a dead one is not"):
    withStored(fillsOutbox = true): feeds =>
      feeds.record(1, 1, item("a"), item("b")): Unit
      val first = feeds.store.lease(1.hour)
      val outbox = feeds.outbox(first.worker)
      val Vector(a, b) = outbox.page(0, 100): @unchecked
      assert(outbox.take(a).nonEmpty)
      val other = feeds.outbox(8)
      assertEquals((other.page(0, 100), other.take(a)), (Vector(b), None))
      outbox.giveBack(a)
      assert(other.take(a).nonEmpty) // worker 8 does not live
      assert(outbox.take(a).nonEmpty)
      other.remove(a) // too late: it is not its any more
      assertEquals(outbox.page(0, 100), Vector(a, b))
      first.close()
      assertEquals(taken(other), Vector("a", "b"))

  test("an item that is removed with its feed, or by a merge, is not given"):
    withStored(fillsOutbox = true): feeds =>
      feeds.record(1, 1, item("a"), item("b")): Unit
      feeds.record(2, 1, item("b"), item("c")): Unit
      feeds.store.record(feeds.check(1, 2, item("d")).copy(movedTo = Some(url("2")))): Unit
      val outbox = feeds.outbox(7)
      assertEquals(taken(outbox).sorted, Vector("a", "b", "c", "d"))
      assert(FeedEdits(feeds.store).remove(feeds.ids(1)))
      assertEquals(outbox.page(0, 100), Vector.empty)

  test("items beyond their age go, and do not come back as new while their feed lists them"):
    withStored(fillsOutbox = false): feeds =>
      val day = 1.day.toMillis
      feeds.record(1, day, item("old"), item("older")): Unit
      feeds.record(1, 5 * day, item("new"), item("old"), item("older")): Unit
      assertEquals(feeds.sweep(10 * day, Some(30.days), None), 0)
      assertEquals(feeds.sweep(10 * day, Some(7.days), None), 2)
      assertEquals(feeds.titles, Vector("new"))
      val again = feeds.record(1, 11 * day, item("new"), item("old", "edited"), item("older"))
      assertEquals((again, feeds.titles), (0, Vector("new")))
      assertEquals(feeds.record(1, 12 * day, item("newest"), item("new")), 1)
      assertEquals(feeds.remembered, 2L)

  test("what a feed has not listed for three months is forgotten, and is new then"):
    withStored(fillsOutbox = false): feeds =>
      val day = 1.day.toMillis
      feeds.record(1, day, item("a"), item("b")): Unit
      assertEquals(feeds.sweep(10 * day, Some(1.day), None), 2)
      feeds.record(1, 80 * day, item("a")): Unit
      feeds.record(1, 110 * day, item("c")): Unit
      assertEquals(feeds.remembered, 1L)
      assertEquals(feeds.record(1, 111 * day, item("a"), item("b")), 1)
      assertEquals(feeds.titles, Vector("b", "c"))

  test("of each feed the newest stay, by the item's date where that is not in the future"):
    withStored(fillsOutbox = false): feeds =>
      def dated(guid: String, at: Long) = item(guid).copy(publishedAt = Some(at))
      val found = List(dated("p3", 30), dated("p1", 10), dated("future", 900), item("none"))
      feeds.record(1, 100, found*): Unit
      feeds.record(2, 50, item("x"), item("y")): Unit
      assertEquals(feeds.sweep(200, None, Some(2)), 2)
      assertEquals(feeds.titles, Vector("future", "none", "x", "y"))
      assertEquals(feeds.record(1, 300, dated("p3", 30), dated("p1", 10), dated("p9", 301)), 1)
      assertEquals(feeds.sweep(400, None, Some(2)), 1)

  test("several items of one guid are told apart where some of them are removed"):
    withStored(fillsOutbox = false): feeds =>
      def shared(link: String) = Item("g", Some(link), Some(link), None, Some("text"))
      feeds.record(1, 1, shared("u1"), shared("u2"), shared("u3")): Unit
      assertEquals(feeds.sweep(9, None, Some(1)), 2)
      assertEquals(feeds.record(1, 10, shared("u3"), shared("u2"), shared("u4"), shared("u1")), 1)
      assertEquals(feeds.titles, Vector("u1", "u4"))

  test("what is still to be given is not removed before"):
    withStored(fillsOutbox = true): feeds =>
      feeds.record(1, 1, item("a"), item("b"), item("c")): Unit
      assertEquals(feeds.sweep(1_000_000, Some(1.second), Some(1)), 0)
      val outbox = feeds.outbox(7)
      val first = outbox.page(0, 1).head
      assert(outbox.take(first).nonEmpty)
      outbox.remove(first)
      assertEquals(feeds.sweep(1_000_000, Some(1.second), Some(1)), 1)
      assertEquals(feeds.titles, Vector("b", "c"))

  test("a feed whose items were removed can be removed, and merged"):
    withStored(fillsOutbox = false): feeds =>
      feeds.record(1, 1, item("a"), item("b")): Unit
      feeds.record(2, 1, item("c")): Unit
      assertEquals(feeds.sweep(1_000_000, Some(1.second), None), 3)
      feeds.store.record(feeds.check(1, 2, item("a")).copy(movedTo = Some(url("2")))): Unit
      assertEquals((feeds.titles, feeds.remembered), (Vector.empty, 3L))
      assert(FeedEdits(feeds.store).remove(feeds.ids(1)))
      assertEquals(feeds.remembered, 0L)
