package weir.postgres.journal

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres
import java.nio.file.{Files, Path}
import java.sql.{Connection, DriverManager}
import scala.jdk.CollectionConverters.*
import scala.util.Using

/** A Postgres that is killed as a whole, and started again on what it has left. */
final class MortalServer extends AutoCloseable:
  private val folder = Files.createTempDirectory("weir-mortal")
  private val data = folder.resolve("data")
  folder.toFile.setWritable(true, false): Unit // Postgres runs as another user if this one is root.
  private var running = start(0)
  val port: Int = running.getPort

  private def start(port: Int): EmbeddedPostgres =
    EmbeddedPostgres
      .builder()
      .setPort(port)
      .setDataDirectory(data)
      .setCleanDataDirectory(false)
      .setRegisterShutdownHook(false)
      .setServerConfig("unix_socket_directories", folder.toString)
      .setServerConfig("log_min_messages", "panic")
      .setServerConfig("fsync", "off") // the machine is not killed
      .setServerConfig("synchronous_commit", "on") // what is committed is there after a kill
      .start()

  /** SIGKILL for the process that makes the others; each of those ends when it sees that, and all
    * have when this returns.
    */
  def kill(): Unit =
    val pid = Files.readAllLines(data.resolve("postmaster.pid")).get(0).trim.toLong
    val postmaster = ProcessHandle.of(pid).get
    val all = postmaster :: postmaster.descendants.iterator.asScala.toList
    assert(postmaster.destroyForcibly())
    all.foreach(_.onExit.get(20, java.util.concurrent.TimeUnit.SECONDS))

  /** **Waits** until it has recovered.
    */
  def restart(): Unit =
    running.close()
    running = start(port)

  def url(database: String): String = s"postgresql://postgres@/$database?host=$folder&port=$port"

  def newDatabase(name: String): String =
    admin("postgres")(_.createStatement().execute(s"CREATE DATABASE $name"): Unit)
    name

  /** The first column of the first row, as text. */
  def ask(database: String)(question: String): String = admin(database) { connection =>
    val rows = connection.createStatement().executeQuery(question)
    if rows.next() then rows.getString(1) else "no row"
  }

  private def admin[A](database: String)(body: Connection => A): A =
    Using.resource(
      DriverManager.getConnection(s"jdbc:postgresql://localhost:$port/$database?user=postgres")
    )(body)

  def close(): Unit =
    running.close()
    Using.resource(Files.walk(folder))(
      _.sorted(java.util.Comparator.reverseOrder[Path]()).forEach(Files.deleteIfExists(_): Unit)
    )
