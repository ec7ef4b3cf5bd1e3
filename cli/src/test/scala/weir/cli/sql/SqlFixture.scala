package weir.cli.sql

import java.io.{PrintWriter, StringWriter}
import java.nio.file.Path
import java.util.concurrent.atomic.AtomicInteger

import munit.FunSuite

import weir.Task
import weir.postgres.ScriptConnection
import weir.program.{Eventually, Main, TempFolder}

/** `weir sql` as a user runs it, on a server that all suites share: starting one takes seconds. */
trait SqlFixture extends TempFolder, Eventually:
  self: FunSuite =>

  final case class Result(code: Int, out: String, err: String)

  /** Returns true if the suite changes its server, and so has one of its own. */
  protected def changesServer: Boolean = false

  private lazy val own = EmbeddedServer.resource.allocated.runSync()
  private def server: EmbeddedServer = if changesServer then own._1 else SqlFixture.shared

  override def afterAll(): Unit = if changesServer then own._2.runSync()

  /** The files of the server itself: its socket, and `data`. */
  def serverFolder: Path = server.folder

  /** The URL of a new, empty database. */
  def newDatabase(): String =
    val name = s"test${SqlFixture.databases.incrementAndGet()}"
    execute(server.url, s"CREATE DATABASE $name")
    server.url(name)

  /** Returns the name of the database at this URL in messages. */
  def placeOf(url: String): String =
    s"${url.drop("postgresql:///".length).takeWhile(_ != '?')} at " +
      s"${server.folder}/.s.PGSQL.${server.port}"

  def execute(url: String, statement: String): Unit =
    withConnection(url)(_.createStatement().execute(statement): Unit)

  /** The first column of each row, as text. */
  def query(url: String, query: String): Vector[String] = withConnection(url): connection =>
    val rows = connection.createStatement().executeQuery(query)
    Iterator.continually(rows).takeWhile(_.next()).map(_.getString(1)).toVector

  private def withConnection[A](url: String)(use: java.sql.Connection => A): A =
    ScriptConnection.open(url).use(connection => Task(use(connection.jdbc))).runSync()

  def weir(args: String*): Result =
    val (out, err) = (StringWriter(), StringWriter())
    val code = Main.run("sql" +: args, PrintWriter(out, true), PrintWriter(err, true))
    Result(code, out.toString, err.toString)

  /** Applies `script` to a database. */
  def applied(folder: Path, url: String, script: String, args: String*): Result =
    weir(Seq("--db", url, write(folder, "script.sql", script).toString) ++ args*)

private object SqlFixture:
  val databases: AtomicInteger = AtomicInteger()

  /** The server of all suites of this JVM, which ends with it. */
  lazy val shared: EmbeddedServer =
    val (server, stop) = EmbeddedServer.resource.allocated.runSync()
    sys.addShutdownHook(stop.runSync()): Unit
    server
