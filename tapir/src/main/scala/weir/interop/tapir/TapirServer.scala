package weir.interop.tapir

import _root_.sttp.tapir.server.ServerEndpoint
import _root_.sttp.tapir.server.interceptor.RequestResult
import _root_.sttp.tapir.server.interpreter.{FilterServerEndpoints, ServerInterpreter}
import _root_.sttp.tapir.server.model.ServerResponse
import weir.http.{Headers, Request, Response}
import weir.interop.sttp.{WeirStreams, given}
import weir.{Outcome, Stream, Task}

/** Serves the endpoints of tapir with weir-http. */
object TapirServer:

  /** Returns a handler for `HttpServer.serve` that answers by the endpoint which a request fits.
    *
    * A request that fits no endpoint is answered by `otherwise`, by default with status 404. If
    * only the method does not fit, the status is 405. If an input cannot be decoded, it is 400, as
    * by default in tapir. If the task of an endpoint fails, the status is 500, and the error is
    * logged to the `System.Logger` called `weir.tapir`. If it fails with a `weir.http.HttpError`,
    * the answer has the status and message of that error.
    *
    * **Cancelled**: the task of an endpoint, when the server cancels that of the handler.
    *
    * Files that were made for a request are deleted, however it ends: after the response, or at
    * once if there is none. An input stream of a response is closed, even if it is not sent, or an
    * interceptor fails.
    *
    * Bodies that are not streams are read into memory, or into a file, up to the limit of the
    * server, `ServerSettings.bodyLimitBytes`, or of the endpoint, `maxRequestBodyLength`. Web
    * sockets are not supported: such endpoints do not compile.
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
    val served = FilterServerEndpoints(endpoints)
    request =>
      Task.defer {
        val resources = RequestResources(options)
        val interpreter = new ServerInterpreter[WeirStreams, Task, Content, WeirStreams](
          served,
          ReadBody,
          ToContent(resources),
          options.interceptors,
          _ => Task.unit // they are of the resources
        )(using taskMonad, ContentListener(resources))
        Task.uncancelable { poll =>
          poll(interpreter(TapirRequest(request, resources)))
            .flatMap {
              case RequestResult.Response(response, _) => Task.delay(toResponse(request, response))
              case RequestResult.Failure(_) => poll(otherwise(request))
            }
            .map(response => response.copy(body = response.body.onRelease(resources.releaseAll)))
            .guaranteeCase {
              case Outcome.Succeeded(_) => Task.unit
              case _ => resources.releaseAll
            }
        }
      }

  private val notFound: Request => Task[Response] =
    _ => Task.pure(Response.text("Not Found", 404))

  private def toResponse(request: Request, response: ServerResponse[Content]): Response =
    toResponse(response, response.body.getOrElse(withoutBody(request, response)))

  /** An answer to `HEAD` may say how long the body would be. */
  private def withoutBody(request: Request, response: ServerResponse[Content]): Content =
    response.contentLength match
      case Some(length) if request.method == "HEAD" =>
        Content.Blocks(Stream.empty, Some(length))
      case _ => Content.empty

  private def toResponse(response: ServerResponse[Content], content: Content): Response =
    val headers = Headers(response.headers.map(header => header.name -> header.value)*)
    val all = content match
      case Content.Blocks(_, _, Some(boundary)) =>
        val contentType = headers.get("Content-Type").getOrElse("multipart/form-data")
        headers.set("Content-Type", s"$contentType; boundary=$boundary")
      case _ if headers.get("Content-Type").exists(isOfEvents) =>
        ofEvents.filterNot((name, _) => headers.contains(name)).foldLeft(headers) {
          case (all, (name, value)) => all.add(name, value)
        }
      case _ => headers
    Response(response.code.code, all, content.body)

  private def isOfEvents(contentType: String): Boolean =
    val events = "text/event-stream"
    contentType.regionMatches(true, 0, events, 0, events.length)

  /** The fields by which `Response.events` keeps caches and proxies from keeping events back. */
  private val ofEvents: Vector[(String, String)] = Response.events(Stream.empty).headers.toVector
