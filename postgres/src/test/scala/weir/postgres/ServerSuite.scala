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

  def sql(text: String): Array[Byte] = text.getBytes("UTF-8")

  /** The error that `task` fails with. */
  def serverError(task: Task[Any]): Task[ServerError] = task.attempt.map {
    case Left(error: ServerError) => error
    case other => fail(s"It was to fail with a ServerError, and ended with $other")
  }
