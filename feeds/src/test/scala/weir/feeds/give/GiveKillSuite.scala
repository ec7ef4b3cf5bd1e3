package weir.feeds.give

import com.sun.net.httpserver.{HttpExchange, HttpServer}
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres
import java.net.{InetAddress, InetSocketAddress}
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}
import java.util.SplittableRandom
import java.util.concurrent.{Executors, FutureTask}
import scala.concurrent.duration.*

import munit.FunSuite

import weir.feeds.FeedsProgram
import weir.program.{ChildJvm, TempFolder, Tier}

/** Processes that are killed while feeds change and a command gets the new items. */
class GiveKillSuite extends FunSuite with TempFolder:
  override val munitTimeout: Duration = 10.minutes

  private val seed = Tier.seed("weir.feeds.seed")
  private val feeds = 30
  private val perFeed = 3

  /** Feeds whose items all change, and which get an item more, whenever `version` does. */
  private final class Site extends AutoCloseable:
    @volatile var version = 1
    private val executor = Executors.newVirtualThreadPerTaskExecutor()
    private val server =
      HttpServer.create(InetSocketAddress(InetAddress.getLoopbackAddress, 0), 200)
    server.setExecutor(executor)
    server.createContext("/", answer(_))
    server.start()

    def urls: Seq[String] =
      (1 to feeds).map(n => s"http://127.0.0.1:${server.getAddress.getPort}/$n")

    def guids: Set[String] =
      (for n <- 1 to feeds; i <- 1 to perFeed + version yield s"/$n-$i").toSet

    private def answer(exchange: HttpExchange): Unit =
      val path = exchange.getRequestURI.getPath
      val items = (1 to perFeed + version).map: number =>
        s"<item><guid>$path-$number</guid><title>$path-$number v$version</title></item>"
      val body = s"""<rss version="2.0"><channel><title>$path</title>${items.mkString}
        |</channel></rss>""".stripMargin.getBytes(UTF_8)
      Thread.sleep(20)
      try
        exchange.sendResponseHeaders(200, body.length)
        exchange.getResponseBody.write(body)
      catch case _: java.io.IOException => () // the process was killed
      finally exchange.close()

    def close(): Unit =
      server.stop(0)
      executor.shutdownNow(): Unit

  /** Rounds of two runs, one of them in a process that is killed, then a run to the end. */
  private def killAndCheck(folder: Path, db: String, rounds: Int): Unit =
    val site = Site()
    val random = SplittableRandom(seed)
    val log = folder.resolve("given.txt")
    val list = Files.writeString(folder.resolve("urls.txt"), site.urls.mkString("\n"))
    val args = Seq("--db", db, "--urls", s"$list", "--stale", "0s", "--parallel", "10") ++
      // Sleeping, so that it is often under way at the kill.
      Seq("--exec", s"cat >> $log; sleep 0.005")
    try
      for round <- 1 to rounds do
        val killed = ChildJvm.weir(folder.resolve(s"log$round.txt"), ("feeds" +: args)*)
        killed.readLine(): Unit
        val other = FutureTask(() => FeedsProgram.run(args*))
        Thread.ofPlatform().start(other): Unit
        // Not a wait for something: a moment anywhere in the run is the point.
        Thread.sleep(random.nextLong(1500))
        killed.kill()
        assertEquals(other.get().code, 0, s"round $round, seed $seed\n${other.get().err}")
        site.version += 1
      // Others take what a dead process was giving; on this machine at once.
      val last = FeedsProgram.run(args*)
      assertEquals(last.code, 0, last.err)
      check(site, db, log, rounds)
    finally site.close()

  private def check(site: Site, db: String, log: Path, kills: Int): Unit =
    def titles(lines: Iterator[String]) = lines.map(ujson.read(_)("title").str).toVector
    val stored = titles(
      FeedsProgram.run("items", "--json", "--limit", "100000", "--db", db).out.linesIterator
    )
    // Each item is there once, and as its feed has it now.
    assertEquals(stored.size, site.guids.size, s"seed $seed")
    assertEquals(stored.toSet, site.guids.map(guid => s"$guid v${site.version}"), s"seed $seed")
    val got = titles(Files.readString(log).linesIterator).map(_.takeWhile(_ != ' '))
    assertEquals(got.toSet, site.guids, s"given, seed $seed")
    val twice = got.groupBy(identity).values.map(_.size - 1).sum
    assert(twice <= kills, s"$twice given again after $kills kills, seed $seed")

  folder.test("over SQLite nothing is lost, and nothing is given twice but what was under way"):
    folder => killAndCheck(folder, folder.resolve("feeds.db").toString, Tier(2, 20))

  if Tier.isLong then
    folder.test("over Postgres nothing is lost, and nothing is given twice but what was under way"):
      folder =>
        val server = EmbeddedPostgres.builder().setServerConfig("fsync", "off").start()
        try killAndCheck(folder, server.getJdbcUrl("postgres", "postgres"), 10)
        finally server.close()
