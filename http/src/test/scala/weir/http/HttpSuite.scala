package weir.http

import java.util.concurrent.atomic.AtomicInteger
import weir.{Task, WeirSuite}

/** A suite of servers on this machine. */
trait HttpSuite extends WeirSuite:
  val ok: Request => Task[Response] = _ => Task.pure(Response.text("ok"))

  /** Runs `body` with the port of a server, and releases the server. */
  def serving[A](handler: Request => Task[Response], settings: ServerSettings = ServerSettings())(
      body: Int => A
  ): A = HttpServer.serve(0, settings)(handler).use(server => Task(body(server.port))).runSync()

  def connected[A](port: Int)(body: RawConnection => A): A =
    val connection = RawConnection(port)
    try body(connection)
    finally connection.close()

  /** Waits until `number` has been the same for a while: nothing announces that it stays. */
  def settled(number: AtomicInteger): Unit =
    var before = -1
    eventually("the number stays the same") {
      val now = number.get
      Thread.sleep(30)
      val isSame = now == before && now == number.get
      before = now
      isSame
    }

  /** Runs `body` with a connection to a server. */
  def exchanging[A](
      handler: Request => Task[Response],
      settings: ServerSettings = ServerSettings()
  )(
      body: RawConnection => A
  ): A = serving(handler, settings)(port => connected(port)(body))
