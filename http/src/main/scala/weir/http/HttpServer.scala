package weir.http

import weir.http.server.JettyServer
import weir.{Resource, Task, WeirRuntime}

/** A server of HTTP/1.1 that is running. */
final class HttpServer private (server: JettyServer):

  /** The port that it listens on. */
  def port: Int = server.port

  /** Returns the number of requests that are being handled now. */
  def requestsInFlight: Int = server.requestsInFlight

object HttpServer:
  /** Serves requests at `port`, or at a free port if `port` is 0: runs the task that `handler`
    * returns for a request, on a separate fiber, and sends the response.
    *
    * **Cancelled**: the task of a request, if its client closes the connection, if it takes longer
    * than `handlerTimeout`, and if it has not ended at the end of the drain. A client that only
    * shuts down its output counts as disconnected.
    *
    * **Fails**: a task that fails with an [[HttpError]] answers with its status and message. After
    * any other error the answer is 500 without details, and the error is logged. The same holds for
    * a body that fails before its first block. If the response has begun, the connection is
    * aborted, so that the client does not mistake a part for the whole.
    *
    * The release shuts the server down: `readyPath` answers 503, and after `drainDelay` no
    * connection is accepted any more. Requests in flight have `drainTimeout` to end. Then the
    * remaining ones are cancelled, and answered with 503 if the response has not begun. The release
    * waits for their finalizers. So acquire the server last, after everything that the handler
    * uses.
    *
    * Acquiring it fails with an `IOException` if the port cannot be used, or if the host is none of
    * this machine.
    * {{{
    * val hello: Task[Nothing] =
    *   HttpServer.serve(8080)(request => Task.pure(Response.text("hello\n"))).useForever
    * }}}
    */
  def serve(port: Int, settings: ServerSettings = ServerSettings())(
      handler: Request => Task[Response]
  )(using runtime: WeirRuntime): Resource[HttpServer] =
    require(
      port >= 0 && port <= 65535,
      s"HttpServer.serve: port was $port. It must be from 0 to 65535; 0 takes a free port."
    )
    JettyServer.running(port, settings, handler, runtime).map(new HttpServer(_))
