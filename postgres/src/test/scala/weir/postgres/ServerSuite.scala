package weir.postgres

import scala.concurrent.duration.*
import weir.{Task, Tier, WeirSuite}

/** A suite that needs a real server: one for all suites, since starting one takes seconds. The
  * databases of a suite are dropped at its end.
  */
trait ServerSuite extends munit.FunSuite, WeirSuite:
  protected def server: TestServer = TestServer.shared

  override def limit: FiniteDuration = 60.seconds

  override def beforeAll(): Unit = server: Unit
  override def afterAll(): Unit = server.dropDatabases()

  /** Runs `body` with a session on a new connection. */
  def withSession[A](url: String, notice: ServerNotice => Unit = _ => ())(
      body: (ScriptConnection, Session) => Task[A]
  ): A =
    ScriptConnection.open(url).use(c => body(c, Session(c, notice))).runSync()

  private val kinds = List[(String, String => String)](
    "unix" -> (server.unix(_)),
    "tcp" -> (server.tcp(_)),
    "tls" -> (server.tls(_))
  )

  /** A test over each kind of connection, in a database of its own. */
  def over(name: String)(body: (String, String) => Any): Unit = over(kinds, name)(body)

  /** A slow test over one kind of connection, which `number` chooses; over each in the long tier.
    */
  def overSome(name: String, number: Int)(body: (String, String) => Any): Unit =
    over(if Tier.isLong then kinds else List(kinds(number % kinds.size)), name)(body)

  private def over(kinds: List[(String, String => String)], name: String)(
      body: (String, String) => Any
  ): Unit =
    for (kind, url) <- kinds do
      test(s"$name ($kind)") {
        val database = server.newDatabase()
        body(database, url(database)): Unit
      }

  /** 64 KB of rows with the same text in it, which is to divide that. */
  def manyRows(row: String): Array[Byte] =
    Array.fill(65536 / row.length)(row.getBytes("UTF-8")).flatten

  /** Waits until the process of the server that serves `connection` waits for, or does, what `is`
    * says.
    */
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
