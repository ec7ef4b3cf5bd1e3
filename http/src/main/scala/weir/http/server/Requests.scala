package weir.http.server

import java.util.concurrent.atomic.{AtomicInteger, AtomicLong}
import org.eclipse.jetty.server.Request as JettyRequest
import scala.concurrent.duration.FiniteDuration
import weir.http.{Request, Response, ServerSettings}
import weir.{Task, WeirRuntime}

/** The requests in flight, and the drain that waits for them.
  *
  *   - **Shared**: all fields, each by itself.
  *   - **Order**: a request is counted before it looks at `isClosed`. The drain sets `isClosed`
  *     before it looks at the count. So a request is refused, or the drain waits for it.
  */
private[server] final class Requests(
    val settings: ServerSettings,
    val handler: Request => Task[Response],
    val runtime: WeirRuntime,
    val times: HandlerTimes = HandlerTimes()
):
  val log: ServerLog = ServerLog(settings.accessLog)
  val figures: ServerFigures = ServerFigures(() => inFlight)

  /** Requests up to the completion of Jetty's request: the drain waits for them. */
  private val count = AtomicInteger()

  /** Requests until the last byte of their responses is on its way: for the limit. A client that
    * has its response may send its next request before `count` is lowered.
    */
  private val admittedCount = AtomicInteger()
  private val begunCount = AtomicLong()

  /** True from the beginning of the release. */
  @volatile var isDraining: Boolean = false

  /** True once no request is taken any more. */
  @volatile private var isClosed = false

  def inFlight: Int = count.get

  /** Takes a request, or returns the response that refuses it. */
  def refusal(in: JettyRequest): Response | Null =
    if in.getLength > settings.bodyLimitBytes then tooLong
    else
      count.incrementAndGet(): Unit
      val refused = if isClosed then Requests.stopping else admitted()
      if refused == null then begunCount.incrementAndGet(): Unit
      else count.decrementAndGet(): Unit
      refused

  private def admitted(): Response | Null =
    if admittedCount.incrementAndGet() <= settings.requestLimit then null
    else
      answering()
      Requests.busy

  private val tooLong =
    Response.text(s"The body has more than ${settings.bodyLimitBytes} bytes.\n", 413)

  val handlerLimitNanos: Long = settings.handlerTimeout.toNanos

  /** Makes room for the next request, before the last byte of a response is sent. */
  def answering(): Unit = admittedCount.decrementAndGet(): Unit

  def ended(): Unit = count.decrementAndGet(): Unit

  /** Counts and logs a request. */
  def served(in: JettyRequest, status: Int, sentBytes: Long): Unit =
    val nanos = System.nanoTime() - in.getHeadersNanoTime
    figures.served(status, nanos)
    log.served(in, status, sentBytes, nanos)

  /** Waits until no request is in flight, nor is under way over a connection. After `limit`,
    * cancels those that are in flight, and waits for their finalizers. From then on, no request is
    * taken.
    */
  def drain(limit: FiniteDuration, connections: Requests.Connections): Task[Unit] =
    for
      now <- Task.monotonic
      _ <- untilQuiet(now + limit, begunCount.get, now, connections)
      _ <- Task.delay { isClosed = true }
      _ <- untilNone(connections)
    yield ()

  /** Waits until `end`, or until nothing has been in flight and nothing has begun for a while, and
    * all that has come by then was read. A connection may have been accepted whose request was not
    * read yet.
    *
    * @param begun
    *   the number of requests that had begun at the time `since`
    */
  private def untilQuiet(
      end: FiniteDuration,
      begun: Long,
      since: FiniteDuration,
      connections: Requests.Connections
  ): Task[Unit] =
    def isIdle = count.get == 0 && begunCount.get == begun
    Task.monotonic.flatMap { now =>
      val wasIdle = isIdle
      if now >= end || wasIdle && !connections.areOpen then Task.unit
      else if wasIdle && now - since >= Requests.quiet then
        // No thread may have had a processor for so long.
        connections.readAll.timeoutTo(end - now, Task.unit).flatMap { _ =>
          if isIdle then Task.unit else untilQuiet(end, begunCount.get, now, connections)
        }
      else
        val next = if wasIdle then since else now
        Task.sleep(Requests.pause).flatMap(_ => untilQuiet(end, begunCount.get, next, connections))
    }

  /** Cancels all, and those that were taken just before `isClosed`. */
  private def untilNone(connections: Requests.Connections): Task[Unit] = Task.defer {
    connections.stopAll()
    if count.get == 0 then Task.unit
    else Task.sleep(Requests.pause).flatMap(_ => untilNone(connections))
  }

private[server] object Requests:
  import scala.concurrent.duration.DurationInt

  /** The connections of a server, for its drain. */
  trait Connections:
    def areOpen: Boolean

    /** Waits until all bytes that have come to this machine by now were read. Requests among them
      * have begun then.
      */
    def readAll: Task[Unit]

    /** Cancels all requests that are in flight now. */
    def stopAll(): Unit

  /** Counted for a request whose response was not sent to its end. */
  val aborted = 0

  val busy: Response =
    Response.text("Too many requests are in flight.\n", 503).withHeader("Retry-After", "1")

  val stopping: Response =
    Response.text("The server is stopping.\n", 503).withHeader("Retry-After", "1")

  private val pause = 5.millis

  /** The time for which nothing begins, at the end of a drain. */
  private val quiet = 100.millis
