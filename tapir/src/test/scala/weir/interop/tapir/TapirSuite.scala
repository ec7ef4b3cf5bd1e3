package weir.interop.tapir

import _root_.sttp.tapir.server.ServerEndpoint
import java.net.URI
import weir.http.*
import weir.interop.sttp.WeirStreams
import weir.{Task, WeirSuite}

/** A suite of servers of endpoints on this machine. */
trait TapirSuite extends WeirSuite:
  type Served = ServerEndpoint[WeirStreams, Task]

  /** Sends requests to a server of some endpoints. */
  final class Asking(client: HttpClient, port: Int):
    def send(
        method: String,
        path: String,
        body: Body = Body.empty,
        headers: (String, String)*
    ): Answer =
      val uri = URI.create(s"http://localhost:$port$path")
      val task = client
        .send(Request(method, uri, Headers(headers*), body))
        .flatMap(response => response.body.text().map(Answer(response.status, _, response.headers)))
      task.runSync()

    def get(path: String, headers: (String, String)*): Answer =
      send("GET", path, Body.empty, headers*)

    def post(path: String, text: String, headers: (String, String)*): Answer =
      send("POST", path, Body.text(text), headers*)

    val at: Int = port

  final case class Answer(status: Int, text: String, headers: Headers):
    def short: (Int, String) = (status, text)

  def asking[A](endpoints: Served*)(body: Asking => A): A = askingBy(endpoints*)()(body)

  def askingBy[A](endpoints: Served*)(
      options: TapirOptions = TapirOptions.default,
      settings: ServerSettings = ServerSettings()
  )(body: Asking => A): A =
    val handler = TapirServer.handler(endpoints.toList, options)
    HttpServer
      .serve(0, settings)(handler)
      .use(server => HttpClient.resource().use(client => Task(body(Asking(client, server.port)))))
      .runSync()
