package weir.feeds.store

import java.sql.SQLException

import munit.FunSuite

import weir.feeds.input.FeedUrl

import weir.feeds.reader.ReaderFixture
import weir.program.BadInput

/** The facts about reading, for every database. */
trait ReaderFacts:
  self: FunSuite =>

  def withDatabase(body: Database => Unit): Unit

  private def filled(database: Database): ReaderFixture =
    val fixture = ReaderFixture(database)
    fixture.added("http://new.example/")
    fixture.fetched("http://a.example/", "beta", "a1" -> "x", "a2" -> "x", "a3" -> "x")
    fixture.fetched("http://b.example/", "Alpha", "b1" -> "x", "b2" -> "x")
    fixture.failed("http://c.example/", "timed out", "no answer", failures = 2)
    fixture.failed("http://d.example/", "timed out", "no answer", failures = 9)
    fixture

  test("items are read page by page, newest first, with nothing left out or twice"):
    withDatabase: database =>
      filled(database): Unit
      ReaderFixture.read(database): reader =>
        for size <- 1 to 6 do
          val pages = Iterator
            .iterate(reader.read(ItemQuery().page(_, None, size)))(page =>
              reader.read(ItemQuery().page(_, page.lastOption.map(_.place), size))
            )
            .takeWhile(_.nonEmpty)
            .toVector
          val titles = pages.flatten.flatMap(_.title)
          assertEquals(titles, Vector("b1", "b2", "a1", "a2", "a3"), size)
        val of = reader.read(FeedLookup.idOf(_, FeedUrl.parse("http://a.example/").toOption.get))
        assertEquals(reader.read(ItemQuery(of).page(_, None, 9)).size, 3)
        val since = ItemQuery(sinceMillis = Some(ReaderFixture.start + 120_000))
        assertEquals(reader.read(since.page(_, None, 9)).flatMap(_.title), Vector("b1", "b2"))

  test("only an item without a title comes with the opening of its text"):
    withDatabase: database =>
      val fixture = ReaderFixture(database)
      fixture.stored(
        "http://a.example/",
        "A",
        ReaderFixture.item("1", None, "", "<p>Hello" + "x" * 5_000),
        ReaderFixture.item("2", None, "title", "<p>text")
      )
      ReaderFixture.read(database): reader =>
        val openings = reader.read(ItemQuery().page(_, None, 9)).map(_.opening)
        assertEquals(openings.map(_.map(_.take(8))), Vector(Some("<p>Hello"), None))
        assertEquals(openings.head.map(_.length), Some(1_000))

  test("items that arrive between two pages shift nothing"):
    withDatabase: database =>
      val fixture = filled(database)
      ReaderFixture.read(database): reader =>
        val first = reader.read(ItemQuery().page(_, None, 3))
        fixture.fetched("http://b.example/", "Alpha", "b3" -> "x")
        val second = reader.read(ItemQuery().page(_, first.lastOption.map(_.place), 3))
        assertEquals(second.flatMap(_.title), Vector("a2", "a3"))

  test("feeds are read in the orders that there are"):
    withDatabase: database =>
      filled(database): Unit
      ReaderFixture.read(database): reader =>
        def names(show: FeedQuery.Show, skipped: Int = 0) =
          reader
            .read(FeedQuery(show).page(_, skipped, 3))
            .map(feed => feed.title.getOrElse(feed.url))
        val all = names(FeedQuery.Show.All) ++ names(FeedQuery.Show.All, 3)
        val rest = Vector("c", "d", "new").map(host => s"http://$host.example/")
        assertEquals(all, Vector("Alpha", "beta") ++ rest)
        assertEquals(names(FeedQuery.Show.Failing), rest.take(2).reverse)
        assertEquals(names(FeedQuery.Show.Unchecked), rest.drop(2))
        assertEquals(names(FeedQuery.Show.Latest).last, "Alpha")
        val counts = FeedQuery.Show.values.map(show => reader.read(show.count))
        assertEquals(counts.toVector, Vector(5L, 2L, 4L, 1L))
        val items = reader.read(FeedQuery(FeedQuery.Show.All).page(_, 0, 9)).map(_.items)
        assertEquals(items, Vector(2L, 3L, 0L, 0L, 0L))

  test("the stamp differs after each check, with and without items"):
    withDatabase: database =>
      val fixture = filled(database)
      ReaderFixture.read(database): reader =>
        def stamp() = reader.read(FeedQuery.stamp)
        val first = stamp()
        assertEquals(stamp(), first)
        fixture.failed("http://c.example/", "timed out", "no answer", failures = 3)
        val second = stamp()
        fixture.fetched("http://b.example/", "Alpha", "b3" -> "x")
        assertEquals(Set(first, second, stamp()).size, 3)

  test("a reader cannot write"):
    withDatabase: database =>
      filled(database): Unit
      ReaderFixture.read(database): reader =>
        val _ = intercept[SQLException]:
          reader.read(Sql.update(_, "UPDATE feed SET title = ?")("mine"))

  test("a database that is not there is refused and not made"):
    withDatabase: database =>
      val bad = intercept[BadInput](StoreReader.open(database))
      assert(bad.getMessage.contains("no database of feeds"), bad.getMessage)
      assertEquals(database.version(), None)
