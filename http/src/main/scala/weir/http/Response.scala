package weir.http

import scala.concurrent.duration.{Duration, DurationInt, FiniteDuration}
import weir.Stream
import weir.io.ServerSentEvent

/** A response, by a server or to a client.
  *
  * @param status
  *   200 to 599 at a server
  * @param headers
  *   at a server, those that it does not add by itself: it adds `Date`, `Content-Length` or
  *   `Transfer-Encoding`, and `Connection`. It does not send those of the handler that are called
  *   `Content-Length`, `Transfer-Encoding`, `Connection`, `Keep-Alive` or `Upgrade`, but closes the
  *   connection after `Connection: close`
  */
final case class Response(
    status: Int,
    headers: Headers = Headers.empty,
    body: Body = Body.empty
):
  require(
    status >= 100 && status <= 999,
    s"Response: the status was $status. It must be from 100 to 999; at a server, from 200 to 599."
  )

  /** Returns true if the status is from 200 to 299. */
  def isSuccess: Boolean = status >= 200 && status < 300

  /** Returns this response with one more field. **Fails** as `Headers.apply`. */
  def withHeader(name: String, value: String): Response = copy(headers = headers.add(name, value))

object Response:
  private val ofText = Headers("Content-Type" -> "text/plain; charset=utf-8")
  private val ofJson = Headers("Content-Type" -> "application/json")

  /** Returns `text` in UTF-8, as `text/plain`. */
  def text(text: String, status: Int = 200): Response = Response(status, ofText, Body.text(text))

  /** Returns `json`, a value of JSON in UTF-8, as `application/json`. */
  def json(json: Array[Byte], status: Int = 200): Response = Response(status, ofJson, Body(json))

  /** Returns the bytes that `blocks` emits, as `contentType`. */
  def stream(blocks: Stream[Array[Byte]], contentType: String, status: Int = 200): Response =
    Response(status, Headers("Content-Type" -> contentType), Body.stream(blocks))

  /** Returns a response that sends the header fields at once, and each event as soon as `events`
    * emits it. After each `keepAlive` it sends a comment, which readers ignore, so that no proxy
    * closes the connection as idle. One event is requested ahead of the client.
    *
    * **Cancelled**: cancels `events` when the client disconnects, and at the end of `drainTimeout`.
    * An endless stream delays the shutdown for all of that time, so end it earlier. **Fails**: if
    * `events` fails, the connection is aborted.
    * {{{
    * def prices(request: Request): Task[Response] =
    *   Task.pure(Response.events(latest.map(price => ServerSentEvent(price.toString))))
    * }}}
    */
  def events(
      events: Stream[ServerSentEvent],
      keepAlive: FiniteDuration = 15.seconds
  ): Response =
    require(
      keepAlive > Duration.Zero,
      s"Response.events: keepAlive was $keepAlive. It must be above 0."
    )
    val blocks = events
      .through(ServerSentEvent.encode)
      .mergeHaltLeft(Stream.fixedRate(keepAlive).as(comment))
      .prepend(Array.emptyByteArray)
    Response(200, ofEvents, Body.stream(blocks))

  private val ofEvents = Headers(
    "Content-Type" -> "text/event-stream",
    "Cache-Control" -> "no-store",
    "X-Accel-Buffering" -> "no" // nginx would keep events back
  )

  private val comment = ":\n\n".getBytes
