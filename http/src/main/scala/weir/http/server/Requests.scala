package weir.http.server

import java.util.concurrent.ConcurrentHashMap
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
    val runtime: WeirRuntime
):
  val log: ServerLog = ServerLog(settings.accessLog)
  val figures: ServerFigures = ServerFigures(() => inFlight)
  val times: HandlerTimes = HandlerTimes()

  /** Requests up to the completion of Jetty's request: the drain waits for them. */
  private val count = AtomicInteger()

  /** Requests until the last byte of their responses is on its way: for the limit. A client that
    * has its response may send its next request before `count` is lowered.
    */
  private val admittedCount = AtomicInteger()
  private val exchanges = ConcurrentHashMap.newKeySet[Exchange]()
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

  def begun(exchange: Exchange): Unit = exchanges.add(exchange): Unit

  /** Makes room for the next request, before the last byte of a response is sent. */
  def answering(): Unit = admittedCount.decrementAndGet(): Unit

  /** Cancels the handlers that have taken longer than they may. */
  def stopLate(now: Long): Unit = exchanges.forEach(_.stopIfLate(now))

  def ended(exchange: Exchange): Unit =
    exchanges.remove(exchange): Unit
    count.decrementAndGet(): Unit

  /** Counts and logs a request. */
  def served(in: JettyRequest, status: Int, sentBytes: Long): Unit =
    val nanos = System.nanoTime() - in.getHeadersNanoTime
    figures.served(status, nanos)
    log.served(in, status, sentBytes, nanos)

  /** Waits until no request is in flight, nor is under way over a connection. After `limit`,
    * cancels those that are in flight, and waits for their finalizers. From then on, no request is
    * taken.
    */
  def drain(limit: FiniteDuration, hasConnections: => Boolean): Task[Unit] =
    for
      now <- Task.monotonic
      _ <- untilQuiet(now + limit, begunCount.get, now, hasConnections)
      _ <- Task.delay { isClosed = true }
      _ <- cancelAll
    yield ()

  /** Waits until `end`, or until nothing has been in flight and nothing has begun for a while. A
    * connection may have been accepted whose request was not read yet.
    *
    * @param begun
    *   the number of requests that had begun at the time `since`
    */
  private def untilQuiet(
      end: FiniteDuration,
      begun: Long,
      since: FiniteDuration,
      hasConnections: => Boolean
  ): Task[Unit] = Task.monotonic.flatMap { now =>
    val isIdle = count.get == 0 && begunCount.get == begun
    if now >= end || isIdle && (now - since >= Requests.quiet || !hasConnections) then Task.unit
    else
      Task
        .sleep(Requests.pause)
        .flatMap(_ =>
          untilQuiet(end, begunCount.get, if isIdle then since else now, hasConnections)
        )
  }

  /** Cancels all, and those that were taken just before `isClosed`. */
  private def cancelAll: Task[Unit] = Task.defer {
    exchanges.forEach(_.stop(Exchange.Reason.Drained))
    if count.get == 0 then Task.unit else Task.sleep(Requests.pause).flatMap(_ => cancelAll)
  }

private[server] object Requests:
  import scala.concurrent.duration.DurationInt

  /** Counted for a request whose response was not sent to its end. */
  val aborted = 0

  val busy: Response =
    Response.text("Too many requests are in flight.\n", 503).withHeader("Retry-After", "1")

  val stopping: Response =
    Response.text("The server is stopping.\n", 503).withHeader("Retry-After", "1")

  private val pause = 5.millis

  /** The time for which nothing begins, at the end of a drain. */
  private val quiet = 100.millis
