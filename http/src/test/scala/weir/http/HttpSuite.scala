package weir.http

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

  /** Runs `body` with a connection to a server. */
  def exchanging[A](
      handler: Request => Task[Response],
      settings: ServerSettings = ServerSettings()
  )(
      body: RawConnection => A
  ): A = serving(handler, settings)(port => connected(port)(body))
