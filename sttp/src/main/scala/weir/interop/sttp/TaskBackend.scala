package weir.interop.sttp

import _root_.sttp.client4.httpclient.tasks.TaskHttpBackend
import _root_.sttp.client4.testing.WebSocketStreamBackendStub
import _root_.sttp.client4.{BackendOptions, WebSocketStreamBackend}
import java.net.http.{HttpClient, HttpRequest}
import weir.{Resource, Task, WeirRuntime}

/** A backend of sttp's client: sends requests by the JDK's `java.net.http`.
  *
  * A cancel of the task of a request closes its exchange, or its web socket. A body is a stream in
  * both directions: blocks are read from the connection while the stream of a response runs, and
  * the stream of a request is asked for its blocks as the server reads. If `asStream` has not read
  * the body of a response to its end, the body is closed. Gzip and deflate are decompressed. A
  * stream is sent once: a redirect that would send it again fails.
  *
  * Not supported: the body of a response as an `InputStream`.
  */
object TaskBackend:

  /** Returns a backend with a new client. The release closes its connections, and fails the
    * exchanges that are open.
    * {{{
    * val status = TaskBackend.resource().use { backend =>
    *   basicRequest.get(uri"https://example.org/").send(backend).map(_.code)
    * }
    * }}}
    *
    * @param customizeRequest
    *   changes requests before they are sent
    */
  def resource(
      options: BackendOptions = BackendOptions.Default,
      customizeRequest: HttpRequest => HttpRequest = identity
  )(using runtime: WeirRuntime): Resource[WebSocketStreamBackend[Task, WeirStreams]] =
    TaskHttpBackend.resource(options, customizeRequest)

  /** Returns a backend that sends requests by `client`. It does not close `client`. It should not
    * follow redirects: sttp does.
    */
  def usingClient(
      client: HttpClient,
      customizeRequest: HttpRequest => HttpRequest = identity
  )(using runtime: WeirRuntime): WebSocketStreamBackend[Task, WeirStreams] =
    TaskHttpBackend(client, customizeRequest)

  /** Returns a backend for tests, which answers as you specify: see sttp's `BackendStub`. */
  def stub: WebSocketStreamBackendStub[Task, WeirStreams] = WebSocketStreamBackendStub(taskMonad)
