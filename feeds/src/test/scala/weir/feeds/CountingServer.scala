package weir.feeds

import com.sun.net.httpserver.{HttpExchange, HttpServer}
import java.net.InetSocketAddress
import java.util.concurrent.{ConcurrentHashMap, Executors}
import java.util.concurrent.atomic.AtomicInteger

/** Serves feeds at all addresses of this machine, and counts the requests: for each feed, and how
  * many there were at once, of a feed and of a host. `/old` leads to `/1` for good.
  */
final class CountingServer(delayMillis: Long) extends AutoCloseable:
  private final class Gauge:
    val now: AtomicInteger = AtomicInteger()
    val most: AtomicInteger = AtomicInteger()
    val all: AtomicInteger = AtomicInteger()
    def during(body: => Unit): Unit =
      all.incrementAndGet()
      most.accumulateAndGet(now.incrementAndGet(), _ max _): Unit
      try body
      finally now.decrementAndGet(): Unit

  private val feeds = ConcurrentHashMap[String, Gauge]()
  private val hosts = ConcurrentHashMap[String, Gauge]()
  private val executor = Executors.newVirtualThreadPerTaskExecutor()
  private val server = HttpServer.create(InetSocketAddress(0), 500)
  server.setExecutor(executor)
  server.createContext("/", answer(_))
  server.start()

  val port: Int = server.getAddress.getPort

  /** The number of requests for each feed. */
  def asked(host: String, number: Int): Int = asked(host, s"$number")

  def asked(host: String, path: String): Int =
    Option(feeds.get(s"$host /$path")).fold(0)(_.all.get)

  def total: Int = hosts.values.stream.mapToInt(_.all.get).sum

  def mostOfAFeed: Int = feeds.values.stream.mapToInt(_.most.get).max.orElse(0)
  def mostOfAHost: Int = hosts.values.stream.mapToInt(_.most.get).max.orElse(0)

  private def answer(exchange: HttpExchange): Unit =
    val host = exchange.getRequestHeaders.getFirst("Host").takeWhile(_ != ':')
    val path = exchange.getRequestURI.getPath
    val feed = feeds.computeIfAbsent(s"$host $path", _ => Gauge())
    val body = s"""<rss version="2.0"><channel><title>$path</title>
      |<item><guid>$host$path-1</guid><title>1</title></item>
      |<item><guid>$host$path-2</guid><title>2</title></item>
      |</channel></rss>""".stripMargin.getBytes
    hosts
      .computeIfAbsent(host, _ => Gauge())
      .during(feed.during(Thread.sleep(delayMillis)))
    try
      if path == "/old" then
        exchange.getResponseHeaders.set("Location", "/1")
        exchange.sendResponseHeaders(301, -1)
      else
        exchange.sendResponseHeaders(200, body.length)
        exchange.getResponseBody.write(body)
    catch case _: java.io.IOException => () // the process was killed
    finally exchange.close()

  def close(): Unit =
    server.stop(0)
    executor.shutdownNow(): Unit
