package weir.http.server

import java.net.{InetSocketAddress, URI, URLDecoder}
import java.nio.charset.StandardCharsets.UTF_8
import org.eclipse.jetty.http.{HttpHeader, HttpMethod, HttpScheme, HttpStatus, HttpVersion}
import org.eclipse.jetty.io.{EndPoint, EofException}
import org.eclipse.jetty.server.{
  Handler,
  HttpStream,
  Request as JettyRequest,
  Response as JettyResponse
}
import org.eclipse.jetty.util.Callback
import scala.jdk.CollectionConverters.*
import weir.http.{Body, Headers, Request, Response}

/** Answers at once where no task is needed, and starts an [[Exchange]] for all other requests.
  *
  * It never blocks, so Jetty calls it on the thread that reads the connections.
  */
private[server] final class RequestHandler(requests: Requests) extends Handler.Abstract.NonBlocking:
  import RequestHandler.*

  private val settings = requests.settings
  private val uris = RequestUris()

  override def handle(in: JettyRequest, out: JettyResponse, completion: Callback): Boolean =
    val endPoint = endPointOf(in)
    if !endPoint.beginRequest() then completion.failed(EofException())
    else
      in.addHttpStreamWrapper(Completed(_, endPoint))
      val path = in.getHttpURI.getPath
      val isRead = HttpMethod.GET.is(in.getMethod) || HttpMethod.HEAD.is(in.getMethod)
      if isRead && settings.healthPath.contains(path) then answer(up)
      else if isRead && settings.readyPath.contains(path) then
        answer(if requests.isDraining then Requests.stopping else up)
      else if HttpMethod.CONNECT.is(in.getMethod) || HttpMethod.TRACE.is(in.getMethod) then
        answer(noSuchMethod)
      else if isUnsafe(path) then answer(badUri)
      else if isMisdirected(in) then answer(misdirected)
      else if !isPlainlyCoded(in) then answer(unknownCoding)
      else
        try
          val uri = uris.of(in.getHttpURI)
          requests.refusal(in) match
            case null =>
              Exchange(requests, in, out, completion, endPoint)
                .start(body => requestOf(in, uri, body))
            case refused => answer(refused)
        catch case _: IllegalArgumentException => answer(badUri)

    def answer(response: Response): Unit =
      val writer = ResponseWriter(out, in.getMethod)
      val closes = requests.isDraining || !isPlainlyCoded(in) || !in.consumeAvailable()
      writer.sendAtOnce(response, closes, completion)
      requests.served(in, response.status, writer.sentBytes)
    true

  private def requestOf(in: JettyRequest, uri: URI, body: RequestBody): Request = Request(
    in.getMethod,
    uri,
    Headers.received(
      in.getHeaders.iterator.asScala.map(field => field.getName -> valueOf(field.getValue)).toVector
    ),
    bodyOf(in, body),
    in.getConnectionMetaData.getRemoteSocketAddress match
      case address: InetSocketAddress => Some(address)
      case _ => None
  )

  private def bodyOf(in: JettyRequest, body: RequestBody): Body =
    if body.isThere then Body.stream(body.stream, Option(in.getLength).filter(_ >= 0))
    else Body.empty

  private def valueOf(value: String | Null): String = if value == null then "" else value

/** Answers requests that Jetty refuses, such as those with too long header fields. */
private[server] final class RefusalHandler(requests: Requests)
    extends org.eclipse.jetty.server.Request.Handler:

  override def handle(in: JettyRequest, out: JettyResponse, completion: Callback): Boolean =
    val endPoint = RequestHandler.endPointOf(in)
    // A connection that an exchange has aborted is closed.
    if endPoint.isOpen && endPoint.beginRequest() then
      val status = out.getStatus
      val writer = ResponseWriter(out, in.getMethod)
      val text = Option(HttpStatus.getMessage(status)).getOrElse("Error")
      requests.served(in, status, text.length + 1L)
      writer.sendAtOnce(Response.text(s"$text\n", status), isLast = true, completion)
    else completion.failed(EofException())
    true

private[server] object RequestHandler:
  private val up = Response.text("OK\n")
  private val badUri = Response.text("The address is not well formed.\n", 400)
  private val misdirected =
    Response.text("This connection does not lead to that address.\n", 421)
  private val unknownCoding =
    Response.text("The server has no such transfer coding.\n", 501)
  private val noSuchMethod = Response.text("The server has no such method.\n", 501)

  /** Returns true if `path` has a part that is `.` or `..`, which clients resolve, or a control
    * character. A part ends at an escaped slash as well, so that no part leads up, decoded. Jetty
    * refuses parts that are hidden by `;`.
    */
  private def isUnsafe(path: String | Null): Boolean =
    path != null && (path.contains("/.") || path.indexOf('%') >= 0) && {
      val plain = URLDecoder.decode(path, UTF_8)
      plain.exists(_.isControl) || plain.split("[/\\\\]").exists(s => s == "." || s == "..")
    }

  /** Returns true if the address is one of `https` and the connection is not, or is of another
    * protocol: RFC 9110, 7.4. Only an absolute address can be so. A proxy that ends TLS sends none.
    */
  private def isMisdirected(in: JettyRequest): Boolean =
    val uri = in.getHttpURI
    !HttpScheme.HTTP.is(uri.getScheme) &&
    !(in.getConnectionMetaData.isSecure && HttpScheme.HTTPS.is(uri.getScheme))

  /** Returns true if the body comes as it is, or in chunks alone. In chunks within another coding,
    * the handler would take the code for the body: RFC 9112, 6.1. HTTP/1.0 has no codings, so that
    * a proxy of that version may see another end of the body.
    */
  private def isPlainlyCoded(in: JettyRequest): Boolean =
    val coding = if in.getLength >= 0 then null else in.getHeaders.get(HttpHeader.TRANSFER_ENCODING)
    coding == null || coding.equalsIgnoreCase("chunked") &&
    in.getConnectionMetaData.getHttpVersion != HttpVersion.HTTP_1_0

  /** Ends a request at its connection once Jetty has sent the response, and has read what was left
    * of the request's body: just before it looks for the next request.
    */
  private final class Completed(stream: HttpStream, endPoint: WatchedEndPoint)
      extends HttpStream.Wrapper(stream):
    override def succeeded(): Unit =
      endPoint.endRequest()
      super.succeeded()

    override def failed(error: Throwable): Unit =
      endPoint.endRequest()
      super.failed(error)

  def endPointOf(in: JettyRequest): WatchedEndPoint =
    watched(in.getConnectionMetaData.getConnection.getEndPoint)

  private def watched(endPoint: EndPoint): WatchedEndPoint = endPoint match
    case endPoint: WatchedEndPoint => endPoint
    case layer: EndPoint.Wrapper => watched(layer.unwrap)
    case other =>
      throw IllegalStateException(s"RequestHandler: the end point was ${other.getClass}.")
