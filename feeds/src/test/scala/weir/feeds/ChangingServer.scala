package weir.feeds

import com.sun.net.httpserver.{HttpExchange, HttpServer}
import java.net.{InetAddress, InetSocketAddress}
import java.util.concurrent.Executors
import java.util.concurrent.atomic.AtomicInteger

/** Serves one feed at every path, whose text a test may change. */
final class ChangingServer extends AutoCloseable:
  /** The content that is served, with its type and status. */
  @volatile var body: Array[Byte] = Array.emptyByteArray
  @volatile var contentType: String = "application/rss+xml"
  @volatile var status: Int = 200

  /** The number of requests. */
  val asked: AtomicInteger = AtomicInteger()

  private val executor = Executors.newVirtualThreadPerTaskExecutor()
  private val server =
    HttpServer.create(InetSocketAddress(InetAddress.getLoopbackAddress, 0), 100)
  server.setExecutor(executor)
  server.createContext("/", answer(_))
  server.start()

  def address(path: String): String = s"http://127.0.0.1:${server.getAddress.getPort}$path"

  private def answer(exchange: HttpExchange): Unit =
    val text = body
    asked.incrementAndGet(): Unit
    exchange.getResponseHeaders.set("Content-Type", contentType)
    try
      exchange.sendResponseHeaders(status, text.length)
      exchange.getResponseBody.write(text)
    finally exchange.close()

  def close(): Unit =
    server.stop(0)
    executor.shutdownNow(): Unit
