package weir.http.server

import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicInteger
import org.eclipse.jetty.server.Request as JettyRequest
import scala.concurrent.duration.FiniteDuration
import weir.http.{Request, Response, ServerSettings}
import weir.{Deferred, Task, WeirRuntime}

/** The requests in flight, and the drain that waits for them.
  *
  *   - **The race that we fear**: the last request ends as the drain begins, and nobody says so.
  *     `ended` lowers `count`, then reads `isWaiting`. `awaitNone` sets `isWaiting`, then reads
  *     `count`. One of the two sees the other, and `none` is completed once.
  */
private[server] final class Requests(
    val settings: ServerSettings,
    val handler: Request => Task[Response],
    val runtime: WeirRuntime
):
  val log: ServerLog = ServerLog(settings.accessLog)
  val figures: ServerFigures = ServerFigures(() => inFlight)

  // shared
  private val count = AtomicInteger()
  private val exchanges = ConcurrentHashMap.newKeySet[Exchange]()
  private val none = Deferred.unsafe[Boolean]
  @volatile private var isWaiting = false

  /** True from the beginning of the release. */
  @volatile var isDraining: Boolean = false

  /** True once no request is taken any more. */
  @volatile private var isClosed = false

  def inFlight: Int = count.get

  /** Takes a request, or returns the response that refuses it. */
  def refusal(in: JettyRequest): Response | Null =
    if isClosed then Requests.stopping
    else if in.getLength > settings.bodyLimitBytes then tooLong
    else if count.incrementAndGet() > settings.requestLimit then
      lower()
      Requests.busy
    else null

  private val tooLong =
    Response.text(s"The body has more than ${settings.bodyLimitBytes} bytes.\n", 413)

  def begun(exchange: Exchange): Unit = exchanges.add(exchange): Unit

  def ended(exchange: Exchange): Unit =
    exchanges.remove(exchange): Unit
    lower()

  private def lower(): Unit =
    if count.decrementAndGet() == 0 && isWaiting then complete(true)

  /** Counts and logs a request. */
  def served(in: JettyRequest, status: Int, sentBytes: Long): Unit =
    val nanos = System.nanoTime() - in.getHeadersNanoTime
    figures.served(status, nanos)
    log.served(in, status, sentBytes, nanos)

  /** Waits until no request is in flight; after `limit`, cancels those that are, and waits for
    * their finalizers. From then on, no request is taken.
    */
  def drain(limit: FiniteDuration): Task[Unit] =
    for
      timer <- Task.sleep(limit).flatMap(_ => none.complete(false)).start
      _ <- Task.delay {
        isWaiting = true
        if count.get == 0 then complete(true)
      }
      areOver <- none.get
      _ <- timer.cancel
      _ <- Task.delay { isClosed = true }
      _ <- if areOver then Task.unit else cancelAll
    yield ()

  private def complete(areOver: Boolean): Unit =
    none.complete(areOver).runSync()(using runtime): Unit

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
