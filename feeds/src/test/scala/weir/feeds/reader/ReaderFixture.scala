package weir.feeds.reader

import java.net.URI
import java.net.http.{HttpClient, HttpRequest, HttpResponse}
import java.nio.file.Path
import java.time.ZoneId
import java.util.concurrent.atomic.AtomicLong

import weir.feeds.input.{FeedUrl, NewFeed}
import weir.feeds.store.{
  Check,
  Database,
  DueFeed,
  FeedAbout,
  FeedLookup,
  FeedStore,
  Item,
  Stages,
  StoreReader
}

/** A database with what a test stores in it, by the store that `weir feeds` uses. */
final class ReaderFixture(val database: Database):
  private val clock = AtomicLong(ReaderFixture.start)

  /** A feed with `items`, each a title and its text in HTML, in one check a minute after the last.
    */
  def fetched(url: String, title: String, items: (String, String)*): Unit =
    val found = items.zipWithIndex.map { case ((title, text), index) =>
      val link = s"https://a.example/$title-$index".filter(char => char > ' ' && char < 0x7f)
      ReaderFixture.item(s"$title $index", Some(link.replaceAll("[^a-z0-9:/.-]", "")), title, text)
    }
    record(
      url,
      "fetched",
      None,
      0,
      Some(Check.Found(FeedAbout(Some(title)), None, None, 0, found.toVector))
    )

  def stored(url: String, title: String, items: Item*): Unit =
    record(
      url,
      "fetched",
      None,
      0,
      Some(Check.Found(FeedAbout(Some(title)), None, None, 0, items.toVector))
    )

  /** A feed that says this of itself, and has no item. */
  def said(url: String, about: FeedAbout): Unit =
    record(url, "fetched", None, 0, Some(Check.Found(about, None, None, 0, Vector.empty)))

  def failed(
      url: String,
      outcome: String,
      error: String,
      failures: Int,
      isGone: Boolean = false
  ): Unit =
    record(url, outcome, Some(error), failures, None, isGone)

  def added(urls: String*): Unit = write: store =>
    val _ = store.add(urls.map(url => NewFeed(ReaderFixture.url(url), None)))

  private def record(
      url: String,
      outcome: String,
      error: Option[String],
      failures: Int,
      found: Option[Check.Found],
      isGone: Boolean = false
  ): Unit =
    added(url)
    write: store =>
      val id = ReaderFixture.read(database)(_.read(FeedLookup.idOf(_, ReaderFixture.url(url))))
      val feed = DueFeed(id.get, ReaderFixture.url(url), None, None, 0, 0, 1)
      val at = clock.addAndGet(60_000)
      val _ = store.record(
        Check(feed, at, 5, outcome, error, failures, 7_200_000, isGone, None, None, found)
      )

  def toldStages(table: String): Unit =
    write(Stages.write(_, Stages(clock.addAndGet(60_000), table)))

  private def write(body: FeedStore => Unit): Unit =
    val store = FeedStore.open(database)
    try body(store)
    finally store.close()

object ReaderFixture:
  /** When the first check is a minute past. */
  val start: Long = java.time.Instant.parse("2026-03-01T12:00:00Z").toEpochMilli

  val zone: ZoneId = ZoneId.of("Asia/Kolkata")

  def in(folder: Path): ReaderFixture =
    ReaderFixture(Database.of(folder.resolve("feeds.db").toString))

  def url(text: String): FeedUrl = FeedUrl.parse(text).toOption.get

  def item(guid: String, url: Option[String], title: String, text: String): Item =
    Item(guid, url, Some(title).filter(_.nonEmpty), Some(start - 86_400_000), Some(text))

  def read[A](database: Database)(body: StoreReader => A): A =
    val reader = StoreReader.open(database)
    try body(reader)
    finally reader.close()

  /** Runs `body` with the address of a server of the pages on `database`. */
  def serving[A](database: Database)(body: URI => A): A =
    read(database): reader =>
      val server = ReaderServer.start(reader, 0, LocalTime(zone), 3_600_000)
      try body(server.address)
      finally server.close()

  private lazy val client = HttpClient.newHttpClient()

  def get(address: URI, path: String, method: String = "GET"): HttpResponse[String] =
    val request = HttpRequest
      .newBuilder(address.resolve(path))
      .method(method, HttpRequest.BodyPublishers.noBody())
      .build()
    client.send(request, HttpResponse.BodyHandlers.ofString())
