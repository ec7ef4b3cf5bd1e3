package weir.interop.tapir

import _root_.sttp.tapir.server.ServerEndpoint
import _root_.sttp.tapir.server.interceptor.RequestResult
import _root_.sttp.tapir.server.interpreter.{FilterServerEndpoints, ServerInterpreter}
import _root_.sttp.tapir.server.model.ServerResponse
import weir.Task
import weir.http.{Headers, Request, Response}
import weir.interop.sttp.{WeirStreams, given}

/** Serves the endpoints of tapir by weir-http. */
object TapirServer:

  /** Returns a handler for `HttpServer.serve` that answers by the endpoint which a request fits.
    *
    * A request that fits no endpoint is answered by `otherwise`, by default with status 404. One
    * that fits an endpoint but for its method is answered with 405, and one whose input cannot be
    * decoded with 400, as tapir does by default. An endpoint's task that fails is answered with 500
    * and logged to the `System.Logger` called `weir.tapir`; if it fails with a
    * `weir.http.HttpError`, with the status and message of that.
    *
    * **Cancelled**: the task of an endpoint, when the server cancels that of the handler. Temporary
    * files of its request are deleted.
    *
    * Bodies that are no streams are read into memory, or into a file, up to the limit of the
    * server, `ServerSettings.bodyLimitBytes`, or that of the endpoint, `maxRequestBodyLength`.
    * Web sockets are not supported: such endpoints do not compile.
    * {{{
    * val hello = endpoint.get.in("hello" / path[String]).out(stringBody)
    * val handler = TapirServer.handler(
    *   List(hello.serverLogicSuccess[Task](name => Task.pure(s"hello, $name")))
    * )
    * val served: Task[Nothing] = HttpServer.serve(8080)(handler).useForever
    * }}}
    */
  def handler(
      endpoints: List[ServerEndpoint[WeirStreams, Task]],
      options: TapirOptions = TapirOptions.default,
      otherwise: Request => Task[Response] = notFound
  ): Request => Task[Response] =
    val interpreter = new ServerInterpreter[WeirStreams, Task, Content, WeirStreams](
      FilterServerEndpoints(endpoints),
      ReadBody,
      ToContent,
      options.interceptors,
      options.deleteFile
    )(using taskMonad, ContentListener)
    request =>
      Task.defer {
        val files = TemporaryFiles(options)
        interpreter(TapirRequest(request, files))
          .onCancel(Task.defer(files.deleteAll))
          .flatMap {
            case RequestResult.Response(response, _) => Task.pure(toResponse(response))
            case RequestResult.Failure(_) => otherwise(request)
          }
      }

  private val notFound: Request => Task[Response] =
    _ => Task.pure(Response.text("Not Found", 404))

  private def toResponse(response: ServerResponse[Content]): Response =
    val content = response.body.getOrElse(Content.empty)
    val headers = Headers(response.headers.map(header => header.name -> header.value)*)
    val all = content match
      case Content.Blocks(_, _, Some(boundary)) =>
        val contentType = headers.get("Content-Type").getOrElse("multipart/form-data")
        headers.set("Content-Type", s"$contentType; boundary=$boundary")
      case _ => headers
    Response(response.code.code, all, content.body)
