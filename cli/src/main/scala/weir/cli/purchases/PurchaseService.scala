package weir.cli.purchases

import java.net.{BindException, URI}
import java.nio.ByteBuffer
import java.util.concurrent.TimeUnit
import scala.concurrent.duration.*

import org.eclipse.jetty.http.HttpHeader
import org.eclipse.jetty.http2.server.HTTP2CServerConnectionFactory
import org.eclipse.jetty.server.{
  Handler,
  HttpConfiguration,
  HttpConnectionFactory,
  Request,
  Response,
  Server,
  ServerConnector
}
import org.eclipse.jetty.util.{Callback, Fields}
import org.eclipse.jetty.util.thread.QueuedThreadPool

import weir.program.BadInput

/** A slow web service in this process: `GET /clients/7/purchases` says what client 7 has bought.
  *
  * A request that waits for its answer is an entry in a timer, so 10,000 of them cost no thread. It
  * speaks HTTP/1.1 and, over the same port without TLS, HTTP/2.
  */
final class PurchaseService private (server: Server, port: Int) extends AutoCloseable:
  val url: URI = URI.create(s"http://127.0.0.1:$port")

  def close(): Unit = server.stop()

object PurchaseService:
  /** The most requests that one HTTP/2 connection may have open. */
  val mostRequests = 100_000

  /** The longest delay that a request may ask for. */
  val longestDelay: FiniteDuration = 1.minute

  private val platformThreads = 8
  private val backlog = 4096

  /** Returns the service on the loop-back interface, on a free port if `port` is 0.
    *
    * **Fails** with [[BadInput]] if the port is taken.
    */
  def start(book: PurchaseBook, delay: FiniteDuration, port: Int): PurchaseService =
    val threads = QueuedThreadPool(platformThreads, 4)
    threads.setName("purchases")
    threads.setDaemon(true)
    threads.setReservedThreads(0)
    val server = Server(threads)
    val config = HttpConfiguration()
    val http2 = HTTP2CServerConnectionFactory(config)
    http2.setMaxConcurrentStreams(mostRequests)
    val connector = ServerConnector(server, 1, 1, HttpConnectionFactory(config), http2)
    connector.setHost("127.0.0.1")
    connector.setPort(port)
    connector.setAcceptQueueSize(backlog)
    connector.setIdleTimeout(longestDelay.toMillis * 2)
    server.addConnector(connector)
    server.setHandler(PurchaseHandler(book, delay))
    server.setStopTimeout(0)
    try server.start()
    catch
      case error: Exception if isTaken(error) =>
        server.stop()
        throw BadInput("--port", s"$port is in use.", "Name another, or 0 for any that is free.")
    PurchaseService(server, connector.getLocalPort)

  private def isTaken(error: Throwable): Boolean =
    Iterator.iterate(error)(_.getCause).takeWhile(_ != null).exists(_.isInstanceOf[BindException])

/** Answers when the delay is over; `?delayMillis=` asks for another one. */
private final class PurchaseHandler(book: PurchaseBook, delay: FiniteDuration)
    extends Handler.Abstract.NonBlocking:

  override def handle(request: Request, response: Response, callback: Callback): Boolean =
    (Request.getPathInContext(request), delayMillis(request)) match
      case (PurchaseHandler.path(id), Some(millis)) =>
        getServer.getScheduler.schedule(
          () => answer(200, "application/json", book.json(id.toInt), response, callback),
          millis,
          TimeUnit.MILLISECONDS
        ): Unit
      case (PurchaseHandler.path(_), None) =>
        val most = PurchaseService.longestDelay.toMillis
        text(400, s"delayMillis must be a number from 0 to $most\n", response, callback)
      case _ => text(404, "ask for /clients/1/purchases, or another number\n", response, callback)
    true

  /** None if the request names no valid delay. */
  private def delayMillis(request: Request): Option[Long] =
    val asked: Fields = Request.extractQueryParameters(request)
    Option(asked.getValue("delayMillis")) match
      case None => Some(delay.toMillis)
      case Some(text) =>
        text.toLongOption.filter(ms => ms >= 0 && ms <= PurchaseService.longestDelay.toMillis)

  private def text(status: Int, line: String, response: Response, callback: Callback): Unit =
    answer(status, "text/plain", line.getBytes, response, callback)

  private def answer(
      status: Int,
      contentType: String,
      body: Array[Byte],
      response: Response,
      callback: Callback
  ): Unit =
    response.setStatus(status)
    response.getHeaders.put(HttpHeader.CONTENT_TYPE, contentType)
    response.getHeaders.put(HttpHeader.CONTENT_LENGTH, body.length.toLong)
    response.write(true, ByteBuffer.wrap(body), callback)

private object PurchaseHandler:
  val path = "/clients/([0-9]{1,8})/purchases".r
