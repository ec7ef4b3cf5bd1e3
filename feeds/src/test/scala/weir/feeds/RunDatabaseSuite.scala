package weir.feeds

import java.io.{PrintWriter, StringWriter}
import java.nio.file.{Files, Path}
import scala.concurrent.duration.*

import munit.FunSuite

import weir.feeds.input.{FeedUrl, NewFeed}
import weir.feeds.store.{Database, FeedEdits, FeedStore, Retention}
import weir.program.{BadInput, TempFolder}

/** Checks the choice of the database of a run. */
class RunDatabaseSuite extends FunSuite with TempFolder:
  private val settings = FeedsSettings(
    db = None,
    opml = None,
    urls = None,
    isStrict = false,
    parallel = 1,
    perHost = None,
    hostPause = None,
    stale = 1.hour,
    lease = 1.minute,
    timeout = None,
    retries = 0,
    maxBodyBytes = 1000,
    allowsPrivate = false,
    userAgent = None,
    isWatching = false,
    isQuiet = false,
    showsStages = false,
    json = None,
    report = None,
    seed = None,
    siteSize = None,
    siteLarge = 0,
    speed = 1,
    retention = Retention(None, None),
    gives = None
  )

  private val feed = NewFeed(FeedUrl.parse("http://a.example/").toOption.get, None)

  /** Returns the messages, and the file that is opened. */
  private def opened(
      folder: Path,
      settings: FeedsSettings,
      hasFeeds: Boolean = false
  ): (String, String) =
    val (out, err) = (StringWriter(), StringWriter())
    val place = RunDatabase(settings, PrintWriter(out, true), PrintWriter(err, true), folder)
    val store = place.open(hasFeeds)
    try (out.toString, folder.relativize(Path.of(store.name)).toString)
    finally store.close()

  private def refused(folder: Path, name: String): String =
    val before = Files.list(folder).toList
    val named = settings.copy(db = Some(s"$folder/$name"))
    val bad = intercept[BadInput](opened(folder, named))
    assertEquals(Files.list(folder).toList, before)
    bad.getMessage

  private def made(folder: Path, name: String)(fill: FeedStore => Unit): Unit =
    val store = FeedStore.open(Database.of(s"$folder/$name"))
    try fill(store)
    finally store.close()

  private val ofDemo = "weir-feeds-demo.db"

  private def assertIsDemo(folder: Path): Unit =
    val (said, name) = opened(folder, settings)
    assertEquals(name, ofDemo)
    assert(said.startsWith("no feeds of your own in "), said)
    assert(said.contains("weir-feeds.db, so this is the demo, in "), said)
    assert(said.endsWith("begin with weir feeds add URL, --opml FILE or --urls FILE\n"), said)

  folder.test("where nothing is, it is the demo in a database of its own, and says so"): folder =>
    assertIsDemo(folder)
    assert(!Files.exists(folder.resolve("weir-feeds.db")))
    assertIsDemo(folder)

  folder.test("where the user has feeds it is theirs, and where none is left the demo"): folder =>
    made(folder, "weir-feeds.db")(_.add(Seq(feed)): Unit)
    assertEquals(opened(folder, settings), ("", "weir-feeds.db"))
    made(folder, "weir-feeds.db")(FeedEdits(_).remove(1): Unit)
    assertIsDemo(folder)

  folder.test("a demo that an older weir has put into the usual database stays aside"): folder =>
    made(folder, "weir-feeds.db")(_.addDemo(Seq(feed), Nil): Unit)
    assertIsDemo(folder)

  folder.test("feeds that are given make the database, with and without --db"): folder =>
    assertEquals(opened(folder, settings, hasFeeds = true), ("", "weir-feeds.db"))
    val named = settings.copy(db = Some(s"$folder/x.db"))
    assertEquals(opened(folder, named, hasFeeds = true), ("", "x.db"))

  folder.test("--site-feeds asks for the demo, with --db where that says"): folder =>
    val asked = settings.copy(siteSize = Some(3))
    made(folder, "weir-feeds.db")(_.add(Seq(feed)): Unit)
    assertEquals(opened(folder, asked), ("", ofDemo))
    assertEquals(opened(folder, asked.copy(db = Some(s"$folder/x.db"))), ("", "x.db"))

  folder.test("--db without a database, or with one that never had feeds, says how to begin"):
    folder =>
      write(folder, "empty.db", ""): Unit
      made(folder, "new.db")(_ => ())
      for name <- List("none.db", "empty.db", "new.db") do
        val said = refused(folder, name)
        assert(said.startsWith(s"$folder/$name: there "), said)
        assert(said.contains("Begin with weir feeds add URL"), said)

  folder.test("--db with a database from which all feeds were removed is a run of none"): folder =>
    made(folder, "own.db"): store =>
      store.add(Seq(feed)): Unit
      FeedEdits(store).remove(1): Unit
    assertEquals(opened(folder, settings.copy(db = Some(s"$folder/own.db"))), ("", "own.db"))
