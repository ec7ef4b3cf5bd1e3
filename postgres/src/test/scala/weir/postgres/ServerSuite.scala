package weir.postgres

import scala.concurrent.duration.*
import weir.{Task, WeirSuite}

/** A suite that has a real server, started once for it. */
trait ServerSuite extends munit.FunSuite, WeirSuite:
  protected lazy val server: TestServer = TestServer()

  override def limit: FiniteDuration = 60.seconds

  override def beforeAll(): Unit = server: Unit
  override def afterAll(): Unit = server.close()

  /** What `body` returns for a session on a new connection. */
  def withSession[A](url: String, notice: ServerNotice => Unit = _ => ())(
      body: (ScriptConnection, Session) => Task[A]
  ): A =
    ScriptConnection.open(url).use(c => body(c, Session(c, notice))).runSync()

  /** A test over each kind of connection, in a database of its own. */
  def over(name: String)(body: (String, String) => Any): Unit =
    val kinds = List[(String, String => String)](
      "unix" -> server.unix,
      "tcp" -> server.tcp,
      "tls" -> server.tls
    )
    for (kind, url) <- kinds do
      test(s"$name ($kind)") {
        val database = server.newDatabase()
        body(database, url(database)): Unit
      }

  /** 64 KB of rows with the same text in it, which is to divide that. */
  def manyRows(row: String): Array[Byte] =
    Array.fill(65536 / row.length)(row.getBytes("UTF-8")).flatten

  /** Waits until the process of the server that serves `connection` waits for, or does, what `is` says. */
  def backend(on: TestServer, connection: ScriptConnection, is: String): Unit =
    val pid = connection.driver.getBackendPID
    eventually(s"backend $pid: $is") {
      on.ask("postgres")(
        s"SELECT count(*) FROM pg_stat_activity WHERE pid = $pid AND $is"
      ) == "1"
    }

  def sql(text: String): Array[Byte] = text.getBytes("UTF-8")

  /** The error that `task` fails with. */
  def serverError(task: Task[Any]): Task[ServerError] = task.attempt.map {
    case Left(error: ServerError) => error
    case other => fail(s"It was to fail with a ServerError, and ended with $other")
  }
