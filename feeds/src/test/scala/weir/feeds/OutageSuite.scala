package weir.feeds

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres
import java.nio.file.{Files, Path}
import java.sql.DriverManager
import java.util.concurrent.{ConcurrentLinkedQueue, CountDownLatch, TimeUnit}
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*

import munit.FunSuite

import weir.feeds.store.{FeedStore, Outages, Sql, Sqlite}
import weir.program.{ChildJvm, Eventually, TempFolder}

/** A database that is away for a while, under a run. */
class OutageSuite extends FunSuite with TempFolder with Eventually:
  override val munitTimeout: Duration = 5.minutes

  private val lines = ConcurrentLinkedQueue[String]()

  private def store(file: Path, tell: String => Unit, isWaiting: Boolean = true) =
    val database = Sqlite.at(file.toString, busyLimitMillis = 1)
    FeedStore.open(database, Outages("feeds.db", isWaiting, tell))

  /** Holds the lock of the file that writers need, as another program may. */
  private def whileLocked(file: Path)(body: => Unit): Unit =
    val other = DriverManager.getConnection(s"jdbc:sqlite:$file")
    try
      Sql.execute(other, "BEGIN IMMEDIATE")
      body
      Sql.execute(other, "COMMIT")
    finally other.close()

  folder.test("a store waits for an SQLite file that is locked, says so once, and goes on"):
    folder =>
      val file = folder.resolve("feeds.db")
      val told = CountDownLatch(1)
      val open = store(
        file,
        text =>
          lines.add(text): Unit
          told.countDown()
      )
      val writers = whileWriting(open, 3)
      whileLocked(file):
        writers.begin.countDown()
        assert(told.await(1, TimeUnit.MINUTES))
      writers.all.foreach(_.join())
      assertEquals((1 to 3).map(n => open.fact(s"fact $n")), (1 to 3).map(_ => Some("so")))
      open.close()
      assertEquals(
        lines.asScala.toList,
        List(
          "feeds.db does not answer ([SQLITE_BUSY] The database file is locked (database is " +
            "locked)); waiting until it does",
          "feeds.db answers again"
        )
      )

  private case class Writers(begin: CountDownLatch, all: Seq[Thread])

  private def whileWriting(store: FeedStore, count: Int): Writers =
    val begin = CountDownLatch(1)
    val all = (1 to count).map: n =>
      Thread
        .ofVirtual()
        .start: () =>
          begin.await()
          store.setFact(s"fact $n", "so")
    Writers(begin, all)

  folder.test("a process that is about to end does not wait"): folder =>
    val file = folder.resolve("feeds.db")
    val open = store(file, text => fail(text))
    open.stopWaiting()
    whileLocked(file):
      val error = intercept[java.sql.SQLException](open.setFact("a", "b"))
      assert(error.getMessage.contains("locked"), error.getMessage)
    open.close()

  /** A server that may be started again on the same data, at the same port. */
  private def postgres(data: Path, port: Int): EmbeddedPostgres =
    EmbeddedPostgres
      .builder()
      .setServerConfig("fsync", "off")
      .setDataDirectory(data)
      .setCleanDataDirectory(false)
      .setPort(port)
      .start()

  folder.test("--watch waits for a Postgres that starts again, says so once, and goes on"):
    folder =>
      val data = folder.resolve("data")
      val first = postgres(data, 0)
      val (port, url) = (first.getPort, first.getJdbcUrl("postgres", "postgres"))
      val log = folder.resolve("log.txt")
      val site = Seq("--site-feeds", "4", "--speed", "100", "--timeout", "10s", "--retries", "0")
      val watch = Seq("--watch", "--stale", "100ms", "--lease", "3s")
      val child = ChildJvm.weir(log, Seq("feeds", "--db", url) ++ site ++ watch*)
      val lines = Iterator.continually(child.readLine()).takeWhile(_.nonEmpty).flatten
      def lastCheck() =
        val connection = DriverManager.getConnection(url)
        val query = "SELECT max(checked_at) FROM weir_feeds.feed"
        try Sql.query(connection, query)()(_.getLong(1)).head
        finally connection.close()
      // Later passes print nothing, since nothing is different.
      def awaitPass() =
        val before = lastCheck()
        eventually("a later pass")(lastCheck() > before || !child.isAlive)
      def said(words: String) = Files.readString(log).linesIterator.count(_.contains(words))
      assert(lines.exists(_.contains("; the next in")), Files.readString(log))
      awaitPass()
      first.close()
      eventually("it says that it waits")(said("does not answer") > 0 || !child.isAlive)
      val second = postgres(data, port)
      try
        eventually("it goes on")(said("answers again") > 0 || !child.isAlive)
        awaitPass()
        assertEquals((said("does not answer"), said("answers again")), (1, 1))
      finally second.close()
      eventually("it says again that it waits")(said("does not answer") > 1 || !child.isAlive)
      child.interrupt()
      child.readRest(): Unit
      assertEquals(child.exitCode(), 130, "Ctrl-C ends a wait")
