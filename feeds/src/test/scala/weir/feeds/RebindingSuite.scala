package weir.feeds

import java.net.{InetAddress, UnknownHostException}
import java.nio.file.Path
import scala.concurrent.duration.*
import scala.util.Using

import munit.FunSuite

import weir.feeds.fetch.{Backoff, Fetcher, RawServer}
import weir.feeds.fetch.RawServer.{redirect, text}
import weir.feeds.input.NewFeed
import weir.feeds.run.{FeedCounts, FeedRun, Meter}
import weir.feeds.store.{DueQuery, FeedQuery, FeedStore, Sqlite, StoreReader}
import weir.program.TempFolder

/** Names that lead to a public address when a server names them, and to this machine a pass later.
  */
class RebindingSuite extends FunSuite with TempFolder:
  private val public = "93.184.216.34"
  private val rss = text(200)("<rss><channel><item><guid>1</guid></item></channel></rss>")

  /** Passes over a database, with names that a test may give other addresses. */
  private final class Site(folder: Path, server: RawServer, allowsPrivate: Boolean):
    var names: Map[String, String] = Map("public.example" -> public, "rebind.example" -> public)
    private val database = Sqlite.at(folder.resolve("feeds.db").toString)
    private val store = FeedStore.open(database)

    private def resolve(name: String): Array[InetAddress] =
      Array(InetAddress.ofLiteral(names.getOrElse(name, throw UnknownHostException(name))))

    def add(url: String): Unit = store.add(NewFeed.typed(url).toOption): Unit

    /** The outcomes of all feeds, and the requested paths. */
    def pass(): (Vector[String], Vector[String]) =
      val before = server.asked.size
      val fetcher = Fetcher(1.minute, 100_000, server.address, allowsPrivate, resolve)
      val leases = store.lease(30.seconds)
      try
        val limits = FeedRun.Limits(4, _ => 4, _ => None)
        val run = FeedRun(store, leases, fetcher, Backoff(0, 1.second, 1), Meter.clock, limits)
        val due = DueQuery(System.currentTimeMillis() + 30.days.toMillis, 0)
        run.checkAll(due, FeedCounts(1, Duration.Zero)).runSync()
      finally
        leases.close()
        fetcher.close()
      (feeds.flatMap(_.outcome), server.asked.drop(before).map(_.target))

    def urls: Vector[String] = feeds.map(_.url)

    private def feeds =
      val reader = StoreReader.open(database)
      try reader.read(FeedQuery(FeedQuery.Show.All).page(_, 0, 10))
      finally reader.close()

    def close(): Unit = store.close()

  /** @param lead
    *   the content at `/from`
    */
  private def withSite(folder: Path, lead: Array[Byte], allowsPrivate: Boolean = false)(
      body: Site => Unit
  ): Unit =
    Using.resource(RawServer(asked => if asked.target == "/from" then lead else rss)): server =>
      val site = Site(folder, server, allowsPrivate)
      try body(site)
      finally site.close()

  private val leads = List(
    "a redirect for good" -> redirect(301, "http://rebind.example/feed"),
    "a page" -> text(200)(
      """<html><link rel="alternate" type="application/rss+xml"
        |href="http://rebind.example/feed">""".stripMargin
    ),
    "a feed that says that it has moved" -> text(200)(
      """<rss><channel><itunes:new-feed-url>http://rebind.example/feed</itunes:new-feed-url>
        |<item><guid>1</guid></item></channel></rss>""".stripMargin
    )
  )

  for (what, lead) <- leads do
    folder.test(s"what $what names is not fetched once its name leads to this machine"): folder =>
      withSite(folder, lead): site =>
        site.add("http://public.example/from")
        assertEquals(site.pass()._2, Vector("/from", "/feed"))
        assertEquals(site.urls, Vector("http://rebind.example/feed"))
        site.names += "rebind.example" -> "127.0.0.1"
        assertEquals(site.pass(), (Vector("private address, refused"), Vector()))
        site.names += "rebind.example" -> public
        assertEquals(site.pass()._2, Vector("/feed"))

  folder.test("what a server named is fetched at any address once the user gives it"): folder =>
    withSite(folder, redirect(301, "http://rebind.example/feed")): site =>
      site.add("http://public.example/from")
      site.pass(): Unit
      site.names += "rebind.example" -> "127.0.0.1"
      site.add("http://public.example/from")
      assertEquals(site.pass()._2, Vector())
      site.add("http://rebind.example/feed")
      assertEquals(site.pass()._2, Vector("/feed"))

  folder.test("what a user's own private server names in a private network is fetched again"):
    folder =>
      withSite(folder, redirect(301, "http://10.0.0.8/feed")): site =>
        site.add("http://10.0.0.7/from")
        site.pass(): Unit
        assertEquals(site.urls, Vector("http://10.0.0.8/feed"))
        assertEquals(site.pass(), (Vector("fetched"), Vector("/feed")))

  folder.test("a public address that a private server names is held to the rule from then on"):
    folder =>
      withSite(folder, redirect(301, "http://rebind.example/feed")): site =>
        site.add("http://10.0.0.7/from")
        site.pass(): Unit
        site.names += "rebind.example" -> "10.0.0.9"
        assertEquals(site.pass()._2, Vector())

  folder.test("another path of the host that the user gave is as good as given"): folder =>
    withSite(folder, redirect(301, "/feed")): site =>
      site.add("http://public.example/from")
      site.pass(): Unit
      site.names += "public.example" -> "192.168.0.2"
      assertEquals(site.pass()._2, Vector("/feed"))

  folder.test("a redirect that is temporary is checked at each pass"): folder =>
    withSite(folder, redirect(302, "http://rebind.example/feed")): site =>
      site.add("http://public.example/from")
      assertEquals(site.pass()._2, Vector("/from", "/feed"))
      site.names += "rebind.example" -> "127.0.0.1"
      assertEquals(site.pass(), (Vector("private address, refused"), Vector("/from")))

  folder.test("with --allow-private names may lead anywhere"): folder =>
    withSite(folder, redirect(301, "http://rebind.example/feed"), allowsPrivate = true): site =>
      site.add("http://public.example/from")
      site.pass(): Unit
      site.names += "rebind.example" -> "127.0.0.1"
      assertEquals(site.pass()._2, Vector("/feed"))
