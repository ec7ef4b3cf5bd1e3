package weir.feeds

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres
import java.io.{PrintWriter, StringWriter}
import java.nio.file.{Files, Path}
import java.sql.{Connection, DriverManager}
import java.util.concurrent.FutureTask
import scala.concurrent.duration.*

import munit.FunSuite

import weir.feeds.store.Sql
import weir.program.{ChildJvm, Main, TempFolder, Tier}

/** Several runs on one database, some of them in processes that are killed. */
class SharingSuite extends FunSuite with TempFolder:
  override val munitTimeout: Duration = 8.minutes

  private lazy val postgres = EmbeddedPostgres.builder().setServerConfig("fsync", "off").start()
  private var hasPostgres = false
  private def newPostgres(name: String): String =
    hasPostgres = true
    val connection = postgres.getPostgresDatabase.getConnection
    try Sql.execute(connection, s"CREATE DATABASE $name")
    finally connection.close()
    postgres.getJdbcUrl("postgres", name)

  override def afterAll(): Unit = if hasPostgres then postgres.close()

  private val hosts = (1 to 3).map(n => s"127.0.0.$n")

  private final class Site(folder: Path, feedsOfAHost: Int, delayMillis: Long, val db: String):
    val server: CountingServer = CountingServer(delayMillis)
    val all: Seq[(String, Int)] = for h <- hosts; n <- 1 to feedsOfAHost yield (h, n)
    private val list = folder.resolve("urls.txt")
    Files.writeString(list, all.map((h, n) => s"http://$h:${server.port}/$n").mkString("\n"))
    private var started = 0

    /** The list that every process gets, with which the first one fills the database. */
    def args(more: String*): Seq[String] = Seq("--db", db, "--urls", list.toString) ++ more

    def start(more: String*): ChildJvm =
      started += 1
      ChildJvm.weir(folder.resolve(s"log$started.txt"), ("feeds" +: args(more*))*)

    /** Begins a run that ends by itself. Returns a function that waits for its end and returns its
      * exit code, and with it the words. To the database each run is another one, whatever its
      * process: only the long tier starts a process for each.
      */
    def begin(more: String*): () => (Int, String) =
      if Tier.isLong then
        val child = start(more*)
        () =>
          val text = child.readRest()
          (child.exitCode(), text)
      else
        val run = FutureTask(() => weir("feeds" +: args(more*)*))
        Thread.ofPlatform().start(run): Unit
        () => (run.get().code, run.get().err)

    def ask(query: String): Long =
      val isSqlite = !db.startsWith("jdbc:")
      val connection = DriverManager.getConnection(if isSqlite then s"jdbc:sqlite:$db" else db)
      try
        if !isSqlite then Sql.execute(connection, "SET search_path = weir_feeds")
        Sql.query(connection, query)()(_.getLong(1)).head
      finally connection.close()

    def assertAllStoredOnce(): Unit =
      assertEquals(ask("SELECT count(*) FROM feed WHERE outcome = 'fetched'"), all.size.toLong)
      assertEquals(ask("SELECT count(*) FROM item"), 2L * all.size)
      assertEquals(
        ask("SELECT count(*) FROM (SELECT DISTINCT feed_id, guid FROM item) i"),
        2L * all.size
      )
      assertEquals(ask("SELECT count(*) FROM lease"), 0L)

  private def withSite(folder: Path, feedsOfAHost: Int, delayMillis: Long, db: String)(
      body: Site => Unit
  ): Unit =
    val site = Site(folder, feedsOfAHost, delayMillis, db)
    try body(site)
    finally site.server.close()

  /** Until the servers have been asked so often. */
  private def awaitAsked(site: Site, count: Int): Unit =
    val deadline = 3.minutes.fromNow
    while site.server.total < count do
      assert(deadline.hasTimeLeft(), s"asked ${site.server.total} times of $count")
      Thread.sleep(2)

  /** Three runs, of which the one that is killed has a process of its own. */
  private def threeOfWhichOneIsKilled(folder: Path, db: String): Unit =
    withSite(folder, feedsOfAHost = 40, delayMillis = 100, db): site =>
      val options = Seq("--parallel", "30", "--per-host", "6")
      val first = site.start(options*)
      first.readLine(): Unit // it has made the tables and added the feeds
      val others = List.fill(2)(site.begin(options*))
      awaitAsked(site, 40)
      first.kill()
      val asked = site.server.total
      val (codes, texts) = others.map(_()).unzip
      assertEquals(codes, List(0, 0), texts.mkString("\n"))
      site.assertAllStoredOnce()
      val again = site.all.map((h, n) => site.server.asked(h, n) - 1)
      assert(again.forall(_ >= 0), "some were not fetched")
      assert(again.sum <= 18, s"${again.sum} were fetched again; 18 were in flight at the kill")
      assertEquals(site.server.mostOfAFeed, 1)
      assert(site.server.mostOfAHost <= 6, s"${site.server.mostOfAHost} at once")
      assert(asked < site.all.size, "It was killed too late.")

  folder.test("three runs over Postgres, one killed half-way: all fetched, none stored twice"):
    folder => threeOfWhichOneIsKilled(folder, newPostgres("three"))

  folder.test("three runs over SQLite, one killed half-way: all fetched, none stored twice"):
    folder => threeOfWhichOneIsKilled(folder, folder.resolve("feeds.db").toString)

  /** Two addresses, of which one leads to the other for good, over two runs. */
  private def movedToOneThatIsThere(folder: Path, db: String): Unit =
    val site = Site(folder, feedsOfAHost = 0, delayMillis = 0, db)
    try
      val addresses = List("old", "1").map(path => s"http://127.0.0.1:${site.server.port}/$path")
      Files.writeString(folder.resolve("urls.txt"), addresses.mkString("\n"))
      for _ <- 1 to Tier(1, 3) do
        val (codes, texts) = List.fill(2)(site.begin("--stale", "0s")).map(_()).unzip
        assertEquals(codes, List(0, 0), texts.mkString("\n"))
      val again = weir("feeds" +: site.args("--stale", "0s")*)
      assertEquals(again.code, 0, again.err)
      assertEquals(site.ask("SELECT count(*) FROM feed WHERE url LIKE '%/1'"), 1L)
      assertEquals(site.ask("SELECT count(*) FROM feed"), 1L)
      assertEquals(site.ask("SELECT count(*) FROM item"), 2L)
      assertEquals(site.server.asked("127.0.0.1", "old"), 1)
    finally site.server.close()

  folder.test("two addresses that lead to one feed for good are one feed, over Postgres"): folder =>
    movedToOneThatIsThere(folder, newPostgres("moved"))

  folder.test("two addresses that lead to one feed for good are one feed, over SQLite"): folder =>
    movedToOneThatIsThere(folder, folder.resolve("feeds.db").toString)

  folder.test("one that is stopped gives its feeds back at once, and status shows who has what"):
    folder =>
      withSite(folder, feedsOfAHost = 2, delayMillis = 60_000, newPostgres("stopped")): site =>
        val child = site.start("--timeout", "2m", "--lease", "1h")
        awaitAsked(site, 6)
        val status = weir("feeds", "status", "--db", site.db, "--limit", "4")
        assertEquals(status.code, 0, status.err)
        assert(status.out.contains("1 run of weir feeds on jdbc:postgresql:"), status.out)
        assert(status.out.contains(", 6 feeds being fetched"), status.out)
        assert(status.out.contains(s"/${child.pid}  since "), status.out)
        assert(status.out.contains("has 6 feeds; if it dies"), status.out)
        assertEquals(status.out.linesIterator.count(_.startsWith("  http://127.0.0.")), 4)
        assert(status.out.contains("  and 2 more"), status.out)
        child.interrupt()
        child.readRest(): Unit
        assertEquals(child.exitCode(), 130)
        assertEquals(site.ask("SELECT count(*) FROM lease"), 0L)
        assertEquals(site.ask("SELECT count(*) FROM worker"), 0L)
        assert(weir("feeds", "status", "--db", site.db).out.startsWith("0 runs of weir feeds on"))

  private case class Result(code: Int, out: String, err: String)

  private def weir(args: String*): Result =
    val (out, err) = (StringWriter(), StringWriter())
    val code = Main.run(args, PrintWriter(out, true), PrintWriter(err, true))
    Result(code, out.toString, err.toString)

  /** One line about bad input, and the exit code 2. */
  private def bad(db: String): String =
    val result = weir("feeds", "--db", db, "--site-feeds", "2")
    assertEquals(result.code, 2, result.err)
    assertEquals(result.err.linesIterator.size, 1, result.err)
    assert(!result.err.contains("secret"), result.err)
    result.err

  /** The server of the tests believes everybody else. */
  private def askForPassword(connection: Connection, user: String): Unit =
    val file = Path.of(Sql.query(connection, "SHOW hba_file")()(_.getString(1)).head)
    Files.writeString(file, s"host all $user all scram-sha-256\n${Files.readString(file)}")
    Sql.query(connection, "SELECT pg_reload_conf()")()(_ => ()): Unit

  test("a database that is not there, a wrong password, a wrong scheme, no rights: one clear line"):
    val url = newPostgres("rights")
    val connection = DriverManager.getConnection(url)
    try
      Sql.execute(connection, "CREATE ROLE poor LOGIN PASSWORD 'secret'")
      askForPassword(connection, "poor")
    finally connection.close()
    val server = url.takeWhile(_ != '?').reverse.dropWhile(_ != '/').reverse
    def as(user: String, database: String) = s"$server$database?user=$user&password=secret"
    assert(bad(as("postgres", "nowhere")).contains("database \"nowhere\" does not exist"))
    assert(
      bad(as("poor", "rights").replace("=secret", "=secrets"))
        .contains("password authentication failed for user \"poor\"")
    )
    val poor = as("poor", "rights")
    val refused = bad(poor)
    assert(
      refused.contains("its user may not do this (permission denied for database rights"),
      refused
    )
    assert(refused.contains("Give the user CREATE on the database"), refused)
    assertEquals(weir("feeds", "--db", url, "--site-feeds", "2", "--speed", "100").code, 0)
    assert(bad(poor).contains("permission denied for schema weir_feeds"), bad(poor))
    for scheme <- List("postgresql://me:secret@h/feeds", "postgres://h/feeds", "https://h/feeds") do
      val said = bad(scheme)
      assert(said.contains("is neither a file nor an address of JDBC"), said)
    assert(bad("jdbc:mysql://h/feeds?password=secret").contains("is neither SQLite nor Postgres"))
