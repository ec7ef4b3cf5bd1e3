package weir.postgres.psql

import java.nio.file.{Files, Path}
import java.sql.{Connection, DriverManager}
import java.util.Comparator
import java.util.concurrent.atomic.AtomicInteger
import scala.util.Using

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres

/** A real server for a suite. It logs every statement that it is sent, and listens on TCP and on a
  * Unix socket.
  */
final class LoggedServer private (val folder: Path) extends AutoCloseable:
  private val data = folder.resolve("data")

  private val embedded: EmbeddedPostgres =
    val builder = EmbeddedPostgres
      .builder()
      .setDataDirectory(data)
      .setCleanDataDirectory(false)
      .setLocaleConfig("locale", "C")
      .setRegisterShutdownHook(false)
      .setServerConfig("fsync", "off")
    LoggedServer.logging(folder).foreach((name, value) => builder.setServerConfig(name, value))
    builder.start()

  val port: Int = embedded.getPort

  val log: ServerLog = ServerLog(folder.resolve("log.csv"))

  /** The environment with which libpq's programs reach it over the Unix socket, as they do by
    * default.
    */
  val environment: Map[String, String] = Map(
    "PGHOST" -> s"$folder",
    "PGPORT" -> s"$port",
    "PGUSER" -> "postgres",
    "PGCLIENTENCODING" -> "UTF8",
    "LC_ALL" -> "C"
  )

  /** libpq's URL of `database`, over the Unix socket. */
  def url(database: String): String =
    s"postgresql:///$database?host=$folder&port=$port&user=postgres"

  /** Runs `body` with a connection of the suite's own, whose statements are not in the log. */
  def admin[A](database: String)(body: Connection => A): A =
    val name = s"ApplicationName=${ServerLog.suite}"
    val jdbc =
      s"jdbc:postgresql://127.0.0.1:$port/$database?user=postgres&$name&preferQueryMode=simple"
    Using.resource(DriverManager.getConnection(jdbc))(body)

  def execute(database: String, sql: String): Unit =
    admin(database)(connection =>
      Using.resource(connection.createStatement())(_.execute(sql): Unit)
    )

  /** All that the query returns, a row a string, its columns with `|` between. */
  def rows(database: String, query: String): Vector[String] =
    admin(database)(connection => LoggedServer.rows(connection, query))

  /** Returns the log of all sessions with these databases that have ended. */
  def logged(databases: String*): Vector[ServerLog.Event] =
    val mark = s"SELECT 'mark ${marks.incrementAndGet()}'"
    execute("postgres", mark)
    log.ofAll(databases, mark)

  private val marks = AtomicInteger()

  def create(database: String): Unit =
    execute("postgres", s"CREATE DATABASE $database TEMPLATE template0")

  def drop(database: String): Unit =
    execute("postgres", s"DROP DATABASE IF EXISTS $database WITH (FORCE)")

  def close(): Unit =
    embedded.close()
    Using.resource(Files.walk(folder))(_.sorted(Comparator.reverseOrder()).forEach(Files.delete(_)))

object LoggedServer:
  private def start() = LoggedServer(Files.createTempDirectory("weir-psql"))

  /** One for all suites of a JVM, which ends with it. */
  lazy val shared: LoggedServer =
    val server = start()
    sys.addShutdownHook(server.close()): Unit
    server

  /** Returns the rows of `query`, as [[LoggedServer.rows]]. */
  def rows(connection: Connection, query: String): Vector[String] =
    Using.resource(connection.createStatement()) { statement =>
      val result = statement.executeQuery(query)
      val columns = result.getMetaData.getColumnCount
      Iterator
        .continually(result)
        .takeWhile(_.next())
        .map(row => (1 to columns).map(row.getString(_)).mkString("|"))
        .toVector
    }

  private def logging(folder: Path) = Map(
    "unix_socket_directories" -> s"$folder",
    "logging_collector" -> "on",
    "log_destination" -> "csvlog",
    "log_directory" -> s"$folder",
    "log_filename" -> "log",
    "log_rotation_age" -> "0",
    "log_rotation_size" -> "0",
    "log_statement" -> "all",
    "log_disconnections" -> "on",
    "log_error_verbosity" -> "default",
    "max_prepared_transactions" -> "4",
    "autovacuum" -> "off",
    "synchronous_commit" -> "on", // what a suite has seen committed is there after a crash
    "timezone" -> "Asia/Kathmandu"
  )
