package weir.feeds.reader

import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8
import java.sql.SQLException
import java.util.Locale
import scala.jdk.CollectionConverters.*
import scala.util.Try
import scala.util.control.NonFatal

import org.eclipse.jetty.http.{HttpHeader, HttpMethod}
import org.eclipse.jetty.server.{Handler, Request, Response}
import org.eclipse.jetty.util.Callback

/** Checks every request, and gives every answer its headers, for all pages:
  *
  *   - Only GET and HEAD: nothing can be changed through the reader.
  *   - Only names of this machine in `Host`. A page of a stranger can give its own name the address
  *     127.0.0.1 (DNS rebinding), and would then be of one origin with the reader and could read
  *     it.
  *   - The policy lets a page run the reader's script, use its style sheet, and load nothing else,
  *     so that markup which slips through the cleaning still does nothing.
  */
private[reader] final class ReaderHandler(pages: ReaderPages, port: Int) extends Handler.Abstract:
  private val hosts =
    val names = Set("localhost", "127.0.0.1", "[::1]")
    names.map(name => s"$name:$port") ++ (if port == 80 then names else Set.empty)

  override def handle(request: Request, response: Response, callback: Callback): Boolean =
    val isSafe = HttpMethod.GET.is(request.getMethod) || HttpMethod.HEAD.is(request.getMethod)
    val reply =
      if !isToUs(request) then Reply.problem(421, "This is not the name of this reader.")
      else if !isSafe then
        Reply
          .problem(405, "Only GET and HEAD.")
          .copy(headers = Seq(HttpHeader.ALLOW -> "GET, HEAD"))
      else answer(request)
    send(reply, response, callback)
    true

  /** Returns true if the one `Host` of the request names this machine and this port. */
  private def isToUs(request: Request): Boolean =
    request.getHeaders.getValuesList(HttpHeader.HOST).asScala.toList match
      case List(host) => hosts(host.toLowerCase(Locale.ROOT))
      case _ => false

  private def answer(request: Request): Reply =
    val parameters = Try(Request.extractQueryParameters(request)).toOption
    try
      parameters match
        case Some(fields) =>
          pages.reply(Request.getPathInContext(request), name => Option(fields.getValue(name)))
        case None => Reply.problem(400, "The address is not well formed.")
    catch
      case error: SQLException =>
        Reply.problem(503, s"The database does not answer: ${error.getMessage}")
      case NonFatal(error) => Reply.problem(500, s"The page cannot be shown: $error")

  private def send(reply: Reply, response: Response, callback: Callback): Unit =
    val headers = response.getHeaders
    headers.put("Content-Security-Policy", ReaderHandler.policy)
    headers.put("X-Content-Type-Options", "nosniff")
    headers.put("Referrer-Policy", "no-referrer")
    headers.put("Cross-Origin-Opener-Policy", "same-origin")
    headers.put("Cross-Origin-Resource-Policy", "same-origin")
    headers.put(HttpHeader.CACHE_CONTROL, "no-store")
    headers.put(HttpHeader.CONTENT_TYPE, reply.contentType)
    reply.headers.foreach((name, value) => headers.put(name, value))
    val bytes = reply.body.getBytes(UTF_8)
    headers.put(HttpHeader.CONTENT_LENGTH, bytes.length.toLong)
    response.setStatus(reply.status)
    response.write(true, ByteBuffer.wrap(bytes), callback)

private object ReaderHandler:
  /** The only script of this origin is [[Assets.script]]: all else has another type. */
  val policy: String =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; " +
      "connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
