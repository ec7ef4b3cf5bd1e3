package weir.feeds.store

import java.util.concurrent.{CompletableFuture, CountDownLatch}
import scala.concurrent.duration.*

import munit.FunSuite

import weir.feeds.input.{FeedUrl, NewFeed}

/** The facts about items that change, for every database. */
trait ChangedItemFacts:
  self: FunSuite =>

  def withDatabase(body: Database => Unit): Unit

  private val item = Item(
    guid = "g",
    url = Some("http://a.example/1"),
    title = Some("One"),
    publishedAt = Some(5),
    summary = Some("<p>a</p> <p>b c</p>"),
    content = Some("text"),
    authors = Vector("Ann"),
    categories = Vector("c"),
    enclosures = Vector(Enclosure("http://a.example/1.mp3", Some("audio/mpeg"), Some(7), Some(61)))
  )

  private final class Stored(store: FeedStore):
    private val address = FeedUrl.parse("http://a.example/feed").toOption.get
    store.add(Seq(NewFeed(address, None, 1.second))): Unit
    private val feed = DueFeed(1, address, None, None, 0, 0, 1)

    /** Returns the number of `items` that are new in a check at `atMillis`. */
    def record(atMillis: Long, items: Item*): Int =
      store.record(Checks.fetched(feed, atMillis, items))

    def listed: Vector[ListedItem] = store.reading(ItemQuery().page(_, None, 100))

    def only: ListedItem =
      assertEquals(listed.size, 1)
      listed.head

    def details: ItemQuery.Details =
      store.reading(ItemQuery.details(_, Vector(only.id)))(only.id)

  private def withFeed(body: Stored => Unit): Unit = withDatabase: database =>
    val store = FeedStore.open(database)
    try body(Stored(store))
    finally store.close()

  test("all that an item and its feed say is stored"):
    withFeed: feed =>
      assertEquals(feed.record(1, item), 1)
      assertEquals(feed.details.summary, item.summary)
      assertEquals(feed.details.content, item.content)
      assertEquals(feed.details.authors, item.authors)
      assertEquals(feed.details.categories, item.categories)
      assertEquals(feed.details.enclosures, item.enclosures)
      assertEquals((feed.only.firstSeenAt, feed.only.changedAt), (1L, None))

  for (what, changed) <- List(
      "title" -> item.copy(title = Some("Two")),
      "title that is gone" -> item.copy(title = None),
      "link" -> item.copy(url = Some("http://a.example/2")),
      "date" -> item.copy(publishedAt = Some(6)),
      "summary" -> item.copy(summary = Some("<p>a</p>")),
      "content" -> item.copy(content = Some("text, and more")),
      "author" -> item.copy(authors = Vector("Ann", "Bob")),
      "category" -> item.copy(categories = Vector.empty),
      "file" -> item.copy(enclosures = item.enclosures.map(_.copy(length = Some(8))))
    )
  do
    test(s"an item with another $what is the same row, which says so and when it changed"):
      withFeed: feed =>
        feed.record(1, item): Unit
        val id = feed.only.id
        assertEquals(feed.record(2, changed), 0)
        assertEquals(feed.only.id, id)
        assertEquals((feed.only.title, feed.only.url), (changed.title, changed.url))
        assertEquals(feed.only.publishedAt, changed.publishedAt)
        assertEquals(feed.details.summary, changed.summary)
        assertEquals(feed.details.content, changed.content)
        assertEquals(feed.details.authors, changed.authors)
        assertEquals(feed.details.categories, changed.categories)
        assertEquals(feed.details.enclosures, changed.enclosures)
        assertEquals((feed.only.firstSeenAt, feed.only.changedAt), (1L, Some(2L)))
        // It is not changed again by being as it was.
        assertEquals(feed.record(3, changed), 0)
        assertEquals(feed.only.changedAt, Some(2L))

  test("a change of white space alone is none"):
    withFeed: feed =>
      feed.record(1, item): Unit
      val spaced = item.copy(
        title = Some(" One\n"),
        summary = Some("<p>a</p>\n\t<p>b\u00a0 c</p>\n"),
        content = Some("te xt")
      )
      assertEquals(feed.record(2, spaced), 0)
      assertEquals((feed.only.title, feed.only.changedAt), (item.title, None))
      assertEquals(feed.details.summary, item.summary)

  test("what moves from one field to the next is a change"):
    withFeed: feed =>
      val parts = item.copy(authors = Vector("a", "b"), categories = Vector("c"))
      feed.record(1, parts): Unit
      feed.record(2, item.copy(authors = Vector("a"), categories = Vector("b", "c"))): Unit
      assertEquals(feed.only.changedAt, Some(2L))
      feed.record(3, item.copy(authors = Vector("ab"), categories = Vector("c"))): Unit
      assertEquals(feed.only.changedAt, Some(3L))

  test("of items that share a guid each is updated by what tells it apart"):
    withFeed: feed =>
      def shared(link: String, title: String) = Item("g", Some(link), Some(title), None, None)
      assertEquals(feed.record(1, shared("u1", "a"), shared("u2", "b")), 2)
      assertEquals(feed.record(2, shared("u2", "b2"), shared("u3", "c"), shared("u1", "a")), 1)
      def row(item: ListedItem) =
        (item.url.getOrElse(""), item.title.getOrElse(""), item.changedAt.getOrElse(0L))
      assertEquals(
        feed.listed.map(row).sorted,
        Vector(("u1", "a", 0L), ("u2", "b2", 2L), ("u3", "c", 0L))
      )

  test("an item that changes five times is as it was last, over two processes at once"):
    withDatabase: database =>
      val stores = Vector.fill(2)(FeedStore.open(database))
      val feeds = stores.map(Stored(_))
      for round <- 1 to 5 do
        val start = CountDownLatch(1)
        val added = feeds.map: feed =>
          val result = CompletableFuture[Int]()
          Thread
            .ofVirtual()
            .start: () =>
              start.await()
              try
                val _ = result.complete(feed.record(round, item.copy(title = Some(s"v$round"))))
              catch
                case error: Throwable =>
                  val _ = result.completeExceptionally(error)
          result
        start.countDown()
        assertEquals(added.map(_.get()).sum, if round == 1 then 1 else 0)
        assertEquals(feeds.map(_.only.title), Vector.fill(2)(Some(s"v$round")))
        assertEquals(feeds.head.only.changedAt, Option.when(round > 1)(round.toLong))
      stores.foreach(_.close())

  /** A database that the weir before this version of the tables made of two feeds: see the README
    * beside it.
    */
  def withVersion3(body: Database => Unit): Unit

  test("a database of version 3 keeps its rows, and its items are mended by the next check"):
    withVersion3: database =>
      assertEquals(database.version(), Some(3))
      val store = FeedStore.open(database)
      assertEquals(database.version(), Some(Schema.version))
      val before = store.reading(ItemQuery().page(_, None, 100))
      assertEquals(before.flatMap(_.title).sorted, Vector("A", "B", "C", "D", "D", "plain", "‡ÖÊÂ"))
      assert(before.forall(_.changedAt.isEmpty))
      // Validators of feeds that were misread would keep them so.
      val due = store.cursor(DueQuery(Long.MaxValue / 2, 0), 0, 10)
      val other = store.cursor(DueQuery(Long.MaxValue / 2, 0), 1, 10)
      val feeds =
        (due.nextPage() ++ other.nextPage()).map(feed => feed.url.uri.getPath -> feed).toMap
      due.close()
      other.close()
      assertEquals(feeds.values.flatMap(_.etag).toVector, Vector.empty)
      def check(path: String, items: Item*) =
        val about = FeedAbout(Some("朱镕基"))
        store.record(Checks.fetched(feeds(path), 9_000_000_000_000L, items, about))
      val link = Some("http://a.example/1")
      val fresh = check(
        "/gbk",
        Item("g1", link, Some("囍事"), None, Some("正文镕")),
        Item("g2", None, Some("plain"), None, Some("short"))
      )
      assertEquals(fresh, 0)
      def plain(guid: String, title: String, summary: Option[String], content: Option[String]) =
        Item(guid, None, Some(title), None, summary, content)
      val again = check(
        "/rss",
        plain("a", "A", Some("a long summary"), Some("short"))
          .copy(publishedAt = Some(1767323045000L), authors = Vector("Ann")),
        plain("b", "B", None, Some("only content")),
        plain("c", "C", Some("s"), Some("longer content!")),
        plain("d", "D", None, None).copy(url = Some("http://a.example/d1")),
        plain("d", "D", None, None).copy(url = Some("http://a.example/d2"))
      )
      assertEquals(again, 0)
      val after = store.reading(ItemQuery().page(_, None, 100))
      assertEquals(after.map(_.id).toSet, before.map(_.id).toSet)
      // Values that the older version stored in another way, or not at all, are no change of the
      // item.
      val changed = after.filter(_.changedAt.nonEmpty).flatMap(_.title).toSet
      assertEquals(changed, Set("囍事", "C"))
      val a = after.find(_.title.contains("A")).get
      val details = store.reading(ItemQuery.details(_, Vector(a.id)))(a.id)
      assertEquals((details.content, details.authors), (Some("short"), Vector("Ann")))
      store.close()
