package weir.feeds.store

import scala.concurrent.duration.*

import munit.FunSuite

import weir.feeds.input.{FeedUrl, NewFeed}
import weir.program.BadInput

/** The facts about feeds that users edit, for every database. */
trait EditFacts:
  self: FunSuite =>

  def withDatabase(body: Database => Unit): Unit
  def withVersion4(body: Database => Unit): Unit

  private def url(path: String) = FeedUrl.parse(s"http://a.example/$path").toOption.get
  private def feed(path: String) = NewFeed(url(path), None, 1.second)

  private def withStore(body: (FeedStore, FeedEdits) => Unit): Unit = withDatabase: database =>
    val store = FeedStore.open(database)
    try body(store, FeedEdits(store))
    finally store.close()

  private val start = 1_000_000_000L

  private def due(store: FeedStore, atMillis: Long = start): Vector[DueFeed] =
    Vector(0, 1).flatMap: half =>
      val cursor = store.cursor(DueQuery(atMillis, 3_600_000), half, 100)
      try Iterator.continually(cursor.nextPage()).takeWhile(_.nonEmpty).flatten.toVector
      finally cursor.close()

  private def check(feed: DueFeed, items: String*) =
    Checks.fetched(feed, start, items.map(guid => Item(guid, None, Some(guid), None, None)))

  private def gone(feed: DueFeed, failures: Int = 1) = check(feed).copy(
    outcome = "410 gone",
    found = None,
    failures = failures,
    isGone = true,
    holdOffMillis = 30.days.toMillis
  )

  private def listed(store: FeedStore): Vector[ListedFeed] =
    store.reading(FeedQuery(FeedQuery.Show.All).page(_, 0, 100))

  test("a removed feed goes with its items and former addresses, and may be added again"):
    withStore: (store, edits) =>
      store.add(Seq(feed("1"), feed("2"))): Unit
      val Vector(first, second) = due(store).sortBy(_.id): @unchecked
      store.record(check(first, "a", "b").copy(movedTo = Some(url("new")))): Unit
      store.record(check(second, "a")): Unit
      assert(edits.remove(first.id))
      assert(!edits.remove(first.id))
      assertEquals(listed(store).map(feed => (feed.url, feed.items)), Vector((url("2").text, 1L)))
      assertEquals(store.add(Seq(feed("1"), feed("new"))), 2)

  test("a check of a feed that is removed meanwhile stores nothing"):
    withStore: (store, edits) =>
      store.add(Seq(feed("1"))): Unit
      val leases = store.lease(1.minute)
      val query = DueQuery(start, 3_600_000)
      val one = due(store).head
      assertEquals(leases.take(one, query, Some(1)), Leases.Answer.Ours)
      assert(edits.remove(one.id))
      assertEquals(leases.record(check(one, "a")), None)
      assertEquals(leases.take(one, query, Some(1)), Leases.Answer.Done)
      assertEquals(store.size(), 0L)
      leases.close()

  test("a feed that is disabled is due again once it is enabled, at once"):
    withStore: (store, edits) =>
      store.add(Seq(feed("1"))): Unit
      val one = due(store).head
      store.record(check(one, "a").copy(failures = 5, holdOffMillis = 9_000_000)): Unit
      assertEquals((edits.disable(one.id), edits.disable(one.id)), (true, false))
      assertEquals(listed(store).map(_.state), Vector(FeedState.Disabled))
      assertEquals(listed(store).head.dueAt(0), None)
      assertEquals(store.reading(FeedQuery.Show.Failing.count), 0L)
      assertEquals((edits.enable(one.id), edits.enable(one.id)), (true, false))
      assertEquals(due(store).map(feed => (feed.id, feed.failures)), Vector((one.id, 0)))
      assertEquals(listed(store).map(_.items), Vector(1L))

  test("a feed that is gone is due after a month, at once if it is added again, else sooner"):
    withStore: (store, edits) =>
      store.add(Seq(feed("1"), feed("2"), feed("3"))): Unit
      val all = due(store).sortBy(_.id)
      all.foreach(feed => store.record(gone(feed)): Unit)
      assertEquals(due(store, start + 29.days.toMillis), Vector.empty)
      assertEquals(due(store, start + 31.days.toMillis).size, 3)
      assertEquals(edits.enableAt(Seq(url("1"), url("other"))), 1)
      assertEquals(due(store).map(_.id), Vector(all(0).id))
      edits.lookAgainSooner(Seq(url("2")), failures => failures * 10_000_000L)
      assertEquals(due(store, start + 9_999_000).map(_.id), Vector(all(0).id))
      assertEquals(due(store, start + 10_000_001).map(_.id).toSet, Set(all(0).id, all(1).id))
      // It stays gone until it is there.
      assertEquals(listed(store).count(_.state == FeedState.Gone), 2)
      store.record(check(all(1), "a")): Unit
      assertEquals(listed(store).count(_.state == FeedState.Gone), 1)

  test("a feed is found by a former address, and one that is not there by what is similar"):
    withStore: (store, edits) =>
      store.add(Seq(feed("one.xml"), feed("two.xml"), feed("three"))): Unit
      val one = due(store).find(_.url == url("one.xml")).get
      store.record(check(one).copy(movedTo = Some(url("moved")))): Unit
      assertEquals(edits.find("p", " HTTP://A.example:80/one.xml#x"), one.id)
      assertEquals(edits.find("p", "feed:http://a.example/moved"), one.id)
      def said(typed: String) = intercept[BadInput](edits.find("p", typed)).getMessage
      val near = said("https://www.a.example/tow.xml/")
      assert(near.contains("there is no feed https://www.a.example/tow.xml/ in"), near)
      assert(near.endsWith("Similar: http://a.example/two.xml."), near)
      assert(said("http://a.example/quite/another/path").contains("Similar: "), near)
      assert(said("http://b.example/feeds").endsWith("weir feeds list shows the feeds."))
      assert(said("htp:/x").contains("is not an http"))

  test("a database never has feeds of the user beside those of the demo"):
    withDatabase: database =>
      val store = FeedStore.open(database)
      assertEquals(store.origin, None)
      assert(store.addDemo(Seq(feed("1")), Seq("fact" -> "a")))
      assert(!store.addDemo(Seq(feed("2")), Seq("fact" -> "b")))
      assertEquals((store.size(), store.fact("fact")), (1L, Some("a")))
      assert(intercept[BadInput](store.add(Seq(feed("2")))).getMessage.contains("of the demo"))
      assertEquals((store.size(), store.origin), (1L, Some(FeedOrigin.Demo)))
      store.close()
    withStore: (store, _) =>
      store.add(Seq(feed("1"))): Unit
      val refused = intercept[BadInput](store.addDemo(Seq(feed("2")), Seq("fact" -> "a")))
      assert(refused.getMessage.contains("feeds of yours"), refused.getMessage)
      assertEquals((store.size(), store.fact("fact")), (1L, None))

  test("a database of version 4 loses the demo's feeds, and asks again for what was gone"):
    withVersion4: database =>
      assertEquals(database.version(), Some(4))
      val store = FeedStore.open(database)
      assertEquals(database.version(), Some(Schema.version))
      assertEquals(store.origin, Some(FeedOrigin.User))
      val own = listed(store).map(feed => (feed.url, feed.items, feed.state))
      val server = "http://127.0.0.1:18392"
      assertEquals(
        own.sortBy(_._1),
        Vector((s"$server/gone", 0L, FeedState.Gone), (s"$server/rss", 2L, FeedState.Active))
      )
      val checkedAt = listed(store).find(_.state == FeedState.Gone).flatMap(_.checkedAt).get
      def hasGone(atMillis: Long) = due(store, atMillis).exists(_.url.text == s"$server/gone")
      assert(!hasGone(checkedAt + 29.days.toMillis))
      assert(hasGone(checkedAt + 31.days.toMillis))
      store.close()
