package weir.feeds.store

import java.io.{PrintWriter, StringWriter}
import java.sql.{Connection, DriverManager}
import java.util.concurrent.atomic.AtomicInteger

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres
import munit.FunSuite

import weir.feeds.FeedsProgram
import weir.feeds.reader.ReaderFixture
import weir.program.{BadInput, Main}

class PostgresSuite
    extends FunSuite
    with StoreFacts
    with ChangedItemFacts
    with ReaderFacts
    with GivenAddressFacts
    with LeaseFacts
    with EditFacts
    with OutboxFacts
    with HostHoldFacts:
  private lazy val server = EmbeddedPostgres.builder().setServerConfig("fsync", "off").start()
  private val databases = AtomicInteger()

  override def afterAll(): Unit = server.close()

  private def newUrl(): String =
    val name = s"feeds${databases.incrementAndGet()}"
    val connection = server.getPostgresDatabase.getConnection
    Sql.execute(connection, s"CREATE DATABASE $name")
    connection.close()
    server.getJdbcUrl("postgres", name)

  def withDatabase(body: Database => Unit): Unit = body(Database.of(newUrl()))

  def withVersion1(items: Seq[Item])(body: Database => Unit): Unit =
    withTables(Version1.create(_, "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY", items))(body)

  private def withTables(create: Connection => Unit)(body: Database => Unit): Unit =
    val url = newUrl()
    val connection = DriverManager.getConnection(url)
    Sql.execute(connection, "CREATE SCHEMA weir_feeds")
    Sql.execute(connection, "SET search_path = weir_feeds")
    create(connection)
    connection.close()
    body(Database.of(url))

  def withVersion3(body: Database => Unit): Unit = withTables(Version3.create)(body)

  def withVersion4(body: Database => Unit): Unit = withTables(Version4.create)(body)

  private def execute(url: String, statements: String*): Unit =
    val connection = DriverManager.getConnection(url)
    statements.foreach(Sql.execute(connection, _))
    connection.close()

  test("tables of other programs are not in the way"):
    val url = newUrl()
    execute(url, "CREATE TABLE feed (a int)", "CREATE TABLE meta (a int)")
    val store = FeedStore.open(Database.of(url))
    assertEquals(store.size(), 0L)
    store.close()

  test("a schema of the same name that is not weir's is refused and not changed"):
    for table <- List("feed (a int)", "meta (a int)", "meta (name text, value text)") do
      val url = newUrl()
      execute(url, "CREATE SCHEMA weir_feeds", s"CREATE TABLE weir_feeds.$table")
      val bad = intercept[BadInput](FeedStore.open(Database.of(url)))
      assert(bad.getMessage.contains("another program"), bad.getMessage)

  test("a newer weir's tables are refused"):
    val url = newUrl()
    FeedStore.open(Database.of(url)).close()
    execute(url, "UPDATE weir_feeds.meta SET value = '999' WHERE name = 'version'")
    assert(intercept[BadInput](FeedStore.open(Database.of(url))).getMessage.contains("newer weir"))

  test("a server that is not there is bad input, and no password is shown"):
    val url = "jdbc:postgresql://127.0.0.1:1/feeds?user=me&password=secret"
    val bad = intercept[BadInput](FeedStore.open(Database.of(url)))
    assertEquals(bad.place, "jdbc:postgresql://127.0.0.1:1/feeds")
    assert(!bad.getMessage.contains("secret"))

  test("items and status need a role that may only read, and not the logins"):
    val url = newUrl()
    ReaderFixture(Database.of(url)).fetched("http://a.example/", "A", "one" -> "x")
    execute(
      url,
      "CREATE ROLE only_reads LOGIN",
      "GRANT USAGE ON SCHEMA weir_feeds TO only_reads",
      "GRANT SELECT ON ALL TABLES IN SCHEMA weir_feeds TO only_reads",
      "REVOKE SELECT ON weir_feeds.login FROM only_reads"
    )
    val reading = url.replace("user=postgres", "user=only_reads")
    assertNotEquals(reading, url)
    val commands = List("items" -> "\tone\t", "status" -> "0 runs", "list" -> "a.example")
    for (command, text) <- commands do
      val result = FeedsProgram.run(command, "--db", reading)
      assertEquals((result.code, result.err), (0, ""), command)
      assert(result.out.contains(text), result.out)

  test("a reader whose server has dropped its connection goes on over another"):
    val url = newUrl()
    FeedStore.open(Database.of(url)).close()
    val reader = StoreReader.open(Database.of(url))
    assertEquals(reader.read(FeedQuery.Show.All.count), 0L)
    execute(
      url,
      """SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        |WHERE datname = current_database() AND pid <> pg_backend_pid()""".stripMargin
    )
    assertEquals(reader.read(FeedQuery.Show.All.count), 0L)
    reader.close()

  test("weir feeds fills a Postgres database, and fetches nothing twice"):
    val url = newUrl()
    def weir(args: String*) =
      val out = StringWriter()
      val site = Seq("--site-feeds", "40", "--speed", "20", "--timeout", "2s")
      val all = Seq("feeds", "--db", url) ++ site ++ args
      val code = Main.run(all, PrintWriter(out, true), PrintWriter(System.err, true))
      assertEquals(code, 0)
      out.toString
    assert(weir().contains("404 not found"))
    val store = FeedStore.open(Database.of(url))
    val due = DueQuery(System.currentTimeMillis(), 3_600_000)
    assertEquals((store.size(), store.amount(due).feeds), (40L, 0L))
    store.close()
    assert(weir().contains("0 of 40 feeds"))
    // A feed that timed out on a busy machine has its items in a later pass; no other has any.
    def again = weir("--stale", "0s").contains(" 0 new")
    assert(Iterator.fill(5)(again).contains(true))
