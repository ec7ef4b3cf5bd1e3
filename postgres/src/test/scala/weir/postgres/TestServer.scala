package weir.postgres

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres
import java.nio.file.{Files, Path}
import java.sql.{Connection, DriverManager}
import java.util.concurrent.atomic.AtomicInteger
import scala.jdk.CollectionConverters.*

/** A Postgres of the tests' own, over TCP, with and without TLS, and a Unix domain socket. */
final class TestServer extends AutoCloseable:
  private val folder = Files.createTempDirectory("weir-pg")
  private val data = Files.createTempDirectory("weir-pgdata")
  private val databases = AtomicInteger()
  private val created = scala.collection.mutable.ListBuffer[String]()
  // Postgres runs as another user if this one is root.
  folder.toFile.setWritable(true, false): Unit
  folder.toFile.setExecutable(true, false): Unit

  /** The server's certificate, and the one that a client shows as the user `postgres`. */
  val certificate: TestCertificate = TestServer.certificate
  val clientCertificate: TestCertificate = TestServer.clientCertificate

  private val server = EmbeddedPostgres
    .builder()
    .setServerConfig("unix_socket_directories", folder.toString)
    .setServerConfig("ssl", "on")
    .setServerConfig("ssl_cert_file", certificate.certificate.toString)
    .setServerConfig("ssl_key_file", certificate.key.toString)
    .setServerConfig("ssl_ca_file", clientCertificate.certificate.toString)
    .setServerConfig("fsync", "off")
    .setServerConfig("full_page_writes", "off")
    .setServerConfig("log_min_messages", "panic")
    .start()

  val port: Int = server.getPort

  /** The name of a new, empty database. */
  def newDatabase(): String =
    val name = s"test${databases.incrementAndGet()}"
    admin("postgres")(execute(_, s"CREATE DATABASE $name"))
    created.synchronized(created += name): Unit
    name

  /** Drops the databases that `newDatabase` has created, with the connections to them. */
  def dropDatabases(): Unit =
    val names = created.synchronized {
      val names = created.toList
      created.clear()
      names
    }
    admin("postgres")(a => names.foreach(n => execute(a, s"DROP DATABASE $n WITH (FORCE)")))

  def unix(database: String): String = s"postgresql://postgres@/$database?host=$folder&port=$port"
  def tcp(database: String): String = at(database, "sslmode=disable")

  /** The server's name, and that its certificate is what it should be, are looked at. */
  def tls(database: String): String =
    at(database, s"sslmode=verify-full&sslrootcert=${certificate.certificate}")

  /** Over TCP, with these words for the driver. */
  def at(database: String, words: String): String =
    s"postgresql://postgres:postgres@localhost:$port/$database?$words"

  def jdbc(database: String): String =
    s"jdbc:postgresql://localhost:$port/$database?user=postgres&password=postgres&sslmode=disable"

  /** Runs `body` with a connection of the test's own. */
  def admin[A](database: String)(body: Connection => A): A =
    val connection = DriverManager.getConnection(jdbc(database))
    try body(connection)
    finally connection.close()

  def execute(connection: Connection, sql: String): Unit =
    val statement = connection.createStatement()
    try statement.execute(sql): Unit
    finally statement.close()

  /** The first column of the first row, as text. */
  def ask(database: String)(sql: String): String = admin(database) { connection =>
    val rows = connection.createStatement().executeQuery(sql)
    if rows.next() then rows.getString(1) else "no row"
  }

  /** The process of the server that makes the others. */
  def postmaster: Long =
    val pid = ask("postgres")("SELECT pg_read_file('postmaster.pid')").linesIterator.next()
    pid.trim.toLong

  def close(): Unit =
    try server.close()
    finally
      TestServer.delete(folder)
      TestServer.delete(data)

object TestServer:
  // Of all servers of this JVM: keytool takes a second for each.
  private lazy val certificates = Files.createTempDirectory("weir-certificates")
  private lazy val certificate =
    TestCertificate.make(certificates, "localhost", Some("dns:localhost"))
  lazy val clientCertificate: TestCertificate =
    val made = TestCertificate.make(certificates, "postgres", None)
    sys.addShutdownHook(delete(certificates)): Unit
    made

  private def delete(place: Path): Unit =
    if Files.exists(place) then
      Files
        .walk(place)
        .sorted(java.util.Comparator.reverseOrder[Path]())
        .iterator
        .asScala
        .foreach(Files.deleteIfExists(_): Unit)

  /** The server of all suites of this JVM, which ends with it. */
  lazy val shared: TestServer =
    val server = TestServer()
    sys.addShutdownHook(server.close()): Unit
    server
