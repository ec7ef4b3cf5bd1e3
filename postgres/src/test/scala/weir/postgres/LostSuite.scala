package weir.postgres

import scala.concurrent.duration.*
import scala.util.Try
import weir.{Stream, Task}
import weir.postgres.apply.{Deliveries, PlainDelivery}

/** The server goes away. */
class LostSuite extends ServerSuite:
  private lazy val own = TestServer()
  override protected def server: TestServer = own
  override def afterAll(): Unit = own.close()
  override def limit: FiniteDuration = 60.seconds

  private enum Death:
    case Terminated, BackendKilled, PostmasterKilled

  private def kill(death: Death, on: TestServer, connection: ScriptConnection): Unit =
    val pid = connection.driver.getBackendPID
    death match
      case Death.Terminated => on.ask("postgres")(s"SELECT pg_terminate_backend($pid)"): Unit
      case Death.BackendKilled =>
        // The server ends all its processes then, before it recovers.
        on.admin("postgres") { other =>
          signal(pid)
          eventually("it has noticed")(Try(on.execute(other, "SELECT 1")).isFailure)
        }
      case Death.PostmasterKilled =>
        signal(on.postmaster)
        eventually("its children have noticed")(!ProcessHandle.of(pid).filter(_.isAlive).isPresent)

  private def recovered(): Unit =
    eventually("the server has recovered")(Try(server.ask("postgres")("SELECT 1")).isSuccess)

  private def signal(pid: Long): Unit =
    val killed = ProcessHandle.of(pid)
    assert(killed.isPresent && killed.get.destroyForcibly(), s"no process $pid")

  private def statement(text: String): Piece =
    Piece.Statement(text.getBytes, text.startsWith("COPY"), Position(0, 3, 1), 3)

  private val data = manyRows("1234567\n")
  private val endless = Stream.fromIterator(
    Iterator.from(0).map(i => Piece.CopyData(data, 0, data.length, Position(0, 4, 1), 4L + i))
  )
  private val copy = Stream.emits(
    List(statement("CREATE TABLE t (i int)"), statement("COPY t FROM STDIN"))
  )

  /** By the place of the failure: a script that goes on once `after` has ended, and the state of
    * the server process then.
    */
  private def scripts(after: Task[Unit]): Map[String, (Stream[Piece], String)] =
    val wait = Stream.eval(after)
    Map(
      "a statement" -> (Stream.emit(statement("SELECT pg_sleep(1000)")), "wait_event = 'PgSleep'"),
      "a COPY" -> (copy ++ endless, "query LIKE 'COPY%'"),
      "a COPY that waits" ->
        (
          copy ++ endless.take(1) ++ wait.flatMap(_ => endless),
          "wait_event = 'ClientRead' AND query LIKE 'COPY%'"
        ),
      "idle" -> (
        Stream.emit(statement("SELECT 1")) ++ wait.flatMap(_ => Stream.emit(statement("SELECT 2"))),
        "state = 'idle' AND query = 'SELECT 1'"
      )
    )

  /** The error of a script whose server dies while the script is at `where`. */
  private def dies(death: Death, where: String, on: TestServer, url: String): ScriptException =
    val killed = java.util.concurrent.CountDownLatch(1)
    val (pieces, is) = scripts(Task(killed.await()))(where)
    ScriptConnection
      .open(url)
      .use { connection =>
        Task.direct {
          val applying = Deliveries
            .applying(
              connection,
              List("s.sql" -> pieces.map(Vector(_))),
              ApplyOptions(OnError.Continue),
              ApplyListener.none,
              PlainDelivery(_)
            )
            .attempt
            .start
            .await
          backend(on, connection, is)
          kill(death, on, connection)
          killed.countDown()
          applying.joinOrFail.timeout(20.seconds).await match
            case Left(error: ScriptException) => error
            case other => fail(s"It was to fail, and ended with $other")
        }
      }
      .runSync()

  private def check(error: ScriptException): Unit =
    assert(error.server.exists(_.connectionLost), error)
    assert(error.getMessage.matches("s.sql:\\d+:1: FATAL: [^\n]*"), error.getMessage)

  for (where, number) <- List("a statement", "a COPY", "a COPY that waits", "idle").zipWithIndex do
    over(s"terminated in the middle of $where: the server's message is the error"): (_, url) =>
      val error = dies(Death.Terminated, where, server, url)
      check(error)
      assertEquals(
        error.server.map(_.problem),
        Some("terminating connection due to administrator command")
      )
      assertEquals(error.server.map(_.sqlState), Some("57P01"))

    // The server restarts after each, which takes a second or more.
    overSome(s"a killed process in the middle of $where: one clear error", number): (_, url) =>
      val error = dies(Death.BackendKilled, where, server, url)
      check(error)
      assert(error.detail.exists(_.nonEmpty), error.detail)
      recovered()

  // A process of the server that is busy with a COPY does not look whether its parent is still
  // there.
  for where <- List("a statement", "a COPY that waits", "idle") do
    test(s"a killed server in the middle of $where: one clear error"):
      val killed = TestServer()
      try check(dies(Death.PostmasterKilled, where, killed, killed.unix(killed.newDatabase())))
      finally killed.close()

  over("a statement on a lost connection fails at once, and so does an abort"): (_, url) =>
    withSession(url) { (connection, session) =>
      Task.direct {
        kill(Death.Terminated, server, connection)
        assert(serverError(session.run("SELECT 1")).await.connectionLost)
        assert(session.connectionLost)
        assertEquals(serverError(session.run("SELECT 1")).await.sqlState, "08003")
        session.abortCopy.await
      }
    }

  over("an earlier error is not taken for the server's last error"): (_, url) =>
    withSession(url) { (connection, session) =>
      Task.direct {
        serverError(session.run("SELECT 1/0")).await: Unit
        kill(Death.BackendKilled, server, connection)
        assertEquals(
          serverError(session.run("SELECT 1")).await.problem,
          "the connection to the server was lost"
        )
      }
    }
    recovered()

  test(
    "a server that is not there, and one that refuses the session, are one clear error " +
      "without the password"
  ):
    def open(url: String) = ScriptConnection.open(url).use(_ => Task.unit).attempt.runSync() match
      case Left(error: ServerError) => error
      case other => fail(s"$other")
    val database = server.newDatabase()
    val gone = open("postgresql://me:secret@localhost:1/shop")
    assert(gone.connectionLost)
    assertEquals(gone.getMessage, "FATAL: cannot connect to shop at localhost:1")
    val noSocket = open("postgresql://me:secret@/shop?host=/nowhere")
    assertEquals(
      noSocket.getMessage,
      "FATAL: cannot connect to shop at /nowhere/.s.PGSQL.5432"
    )
    val unknown = open(server.tcp(database + "x"))
    assertEquals(unknown.sqlState, "3D000")
    assert(unknown.getMessage.contains(s"database \"${database}x\" does not exist"), unknown)
    for error <- List(gone, noSocket, unknown) do
      assert(!s"$error ${error.detail} ${error.getCause}".contains("secret"))
