package weir.feeds

import java.nio.file.Path
import java.net.InetAddress
import scala.concurrent.duration.*

import munit.FunSuite

import weir.Task
import weir.feeds.fetch.{Backoff, Fetcher, HostPace, RawServer}
import weir.feeds.input.{FeedUrl, NewFeed}
import weir.feeds.run.{FeedCounts, FeedRun, Meter}
import weir.feeds.store.{Database, DueQuery, FeedStore, Sql, WorkerProcess}
import weir.program.TempFolder

/** Two runs on one database, and hosts that are asked too much. */
class HeldHostSuite extends FunSuite with TempFolder:
  override val munitTimeout: Duration = 2.minutes

  private val perHost = 4

  private final class Shared(folder: Path, server: RawServer, addresses: Seq[String]):
    private val database = Database.of(folder.resolve("feeds.db").toString)
    val stores: Vector[FeedStore] = Vector.fill(2)(FeedStore.open(database))
    stores.head.add(
      addresses.map(text => NewFeed(FeedUrl.parse(text).toOption.get, None, 1.second))
    ): Unit
    private val leases = stores.zipWithIndex.map((store, i) =>
      store.lease(1.hour, WorkerProcess(s"m$i/7", s"machine $i", 7))
    )
    private val resolve: String => Array[InetAddress] = _ => Array(InetAddress.getLoopbackAddress)
    private val fetchers = leases.map: own =>
      Fetcher(1.minute, 100_000, server.address, resolve = resolve, heldFor = own.hold(_))
    private def run(number: Int) = FeedRun(
      stores(number),
      leases(number),
      fetchers(number),
      Backoff(retries = 2, 1.milli, 1),
      Meter.clock,
      FeedRun.Limits(100, _ => perHost, _ => Some(perHost))
    )

    /** A pass in both at once; how each went. */
    def pass(): Vector[FeedCounts.Snapshot] =
      val due = DueQuery(System.currentTimeMillis(), 1.hour.toMillis)
      val tallies = Vector.fill(2)(FeedCounts(addresses.size, 1.second))
      Task
        .both(run(0).checkAll(due, tallies(0)), run(1).checkAll(due, tallies(1)))
        .runSync(): Unit
      tallies.map(_.snapshot())

    /** Lets the time of the database go by, as far as holds are concerned, and forgets what the two
      * know of them.
      */
    def advance(time: FiniteDuration): Shared =
      val connection = database.connect()
      Sql.update(connection, "UPDATE host_hold SET until_ms = until_ms - ?")(time.toMillis): Unit
      connection.close()
      close()
      Shared(folder, server, addresses)

    def ask(query: String): Long =
      val connection = database.connect()
      try Sql.query(connection, query)()(_.getLong(1)).head
      finally connection.close()

    def close(): Unit =
      fetchers.foreach(_.close())
      leases.foreach(_.close())
      stores.foreach(_.close())

  private def served(answer: RawServer.Asked => Array[Byte])(body: RawServer => Unit): Unit =
    val server = RawServer(answer)
    try body(server)
    finally server.close()

  private val feed = "<rss><channel><title>T</title><item><guid>1</guid></item></channel></rss>"

  private def addresses(host: String, count: Int) = (1 to count).map(n => s"http://$host/$n")

  folder.test("200 feeds of a host that wants an hour of pause ask it once for each permit"):
    folder =>
      served(_ => RawServer.text(429, "Retry-After: 3600", "Content-Length: 0")("")): server =>
        var shared = Shared(folder, server, addresses("a.example", 200))
        val first = shared.pass()
        val asked = server.asked.size
        assert(asked >= 1 && asked <= perHost, s"$asked requests")
        assertEquals(first.map(_.failed).sum, asked.toLong)
        assert(first.map(_.held).forall(_ >= 200L - perHost), first.toString)
        for _ <- 1 to 5 do
          shared = shared.advance(11.minutes)
          shared.pass(): Unit
        assertEquals(server.asked.size, asked, "requests within the hour")
        assertEquals(shared.ask("SELECT count(*) FROM feed WHERE failures > 0"), asked.toLong)
        assertEquals(shared.ask("SELECT count(*) FROM lease"), 0L)
        shared = shared.advance(6.minutes)
        shared.pass(): Unit
        val later = server.asked.size - asked
        assert(later >= 1 && later <= perHost, s"$later requests after the hour")
        shared.close()

  folder.test("a short pause of a host is waited for, and then all of its feeds are fetched"):
    folder =>
      val asked = java.util.concurrent.atomic.AtomicInteger()
      served: _ =>
        if asked.getAndIncrement() == 0 then
          RawServer.text(503, "Retry-After: 1", "Content-Length: 0")("")
        else RawServer.text(200)(feed)
      .apply: server =>
        val shared = Shared(folder, server, addresses("a.example", 30))
        val tallies = shared.pass()
        assertEquals(tallies.map(_.fetched).sum, 30L)
        assertEquals(tallies.map(t => t.failed + t.held).sum, 0L)
        assertEquals(shared.ask("SELECT count(*) FROM host_hold"), 0L)
        shared.close()

  folder.test("a redirect does not lead to a host that is held, and others are fetched meanwhile"):
    folder =>
      served: asked =>
        asked.target match
          case s"/to-b/$n" => RawServer.redirect(302, s"http://b.example/$n")
          case s"/good/$_" => RawServer.text(200)(feed)
          case _ => RawServer.text(429, "Retry-After: 3600", "Content-Length: 0")("")
      .apply: server =>
        val shared = Shared(
          folder,
          server,
          addresses("a.example/to-b", 20) ++ addresses("c.example/good", 20)
        )
        val tallies = shared.pass()
        val atB = server.asked.count(!_.target.drop(1).contains('/'))
        assert(atB >= 1 && atB <= perHost, s"$atB requests")
        assertEquals(tallies.map(_.fetched).sum, 20L)
        assertEquals(tallies.map(_.failed).sum, atB.toLong)
        assertEquals(shared.ask("SELECT count(*) FROM feed WHERE checked_at IS NULL"), 20L - atB)
        shared.close()

  folder.test("requests of a host begin a pause apart, and other hosts do not wait for that"):
    folder =>
      val times = java.util.concurrent.ConcurrentLinkedQueue[(String, Long)]()
      served: asked =>
        times.add((asked.target.takeWhile(_ != '-'), System.nanoTime())): Unit
        RawServer.text(200)(feed)
      .apply: server =>
        val database = Database.of(folder.resolve("feeds.db").toString)
        val store = FeedStore.open(database)
        val all = (1 to 6).map(n => s"http://a.example/a-$n") ++
          (1 to 20).map(n => s"http://h$n.example/b-$n")
        store.add(all.map(text => NewFeed(FeedUrl.parse(text).toOption.get, None, 1.second))): Unit
        val leases = store.lease(1.hour)
        val pause = 200.millis
        val fetcher = Fetcher(1.minute, 100_000, server.address, pace = HostPace(_ => pause))
        val limits = FeedRun.Limits(3, _ => perHost, _ => Some(perHost))
        val run = FeedRun(store, leases, fetcher, Backoff(0, 1.milli, 1), Meter.clock, limits)
        val counts = FeedCounts(all.size, 1.second)
        run.checkAll(DueQuery(System.currentTimeMillis(), 0), counts).runSync()
        assertEquals(counts.snapshot().fetched, 26L)
        val ofA = times.toArray(Array.empty[(String, Long)]).toList.collect { case ("/a", t) => t }
        // The server sees a request later than it began, so two may look closer than they were.
        assert((ofA.max - ofA.min).nanos >= pause * 5 - 100.millis, ofA.toString)
        List(fetcher, leases, store).foreach(_.close())
