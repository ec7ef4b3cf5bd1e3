package crawler

import com.sun.net.httpserver.{HttpExchange, HttpServer}
import java.net.{InetSocketAddress, URI}
import java.util.concurrent.{ConcurrentHashMap, Executors}
import java.util.concurrent.atomic.AtomicInteger
import weir.*

/** A host on this machine with pages that link to each other and to another host, and with the
  * usual faults: a page that is busy at first, one that does not exist, one that never answers.
  */
final class TestSite(server: HttpServer, pages: Int):
  private val running, most = AtomicInteger()
  private val visits = ConcurrentHashMap[String, AtomicInteger]()
  @volatile var neighbour: Option[URI] = None

  val address: URI = URI.create(s"http://127.0.0.1:${server.getAddress.getPort}/")

  /** The most requests that were here at one time. */
  def mostAtOnce: Int = most.get

  private def handle(exchange: HttpExchange): Unit =
    most.accumulateAndGet(running.incrementAndGet(), Math.max)
    try
      val path = exchange.getRequestURI.getPath
      val visit = visits.computeIfAbsent(path, _ => AtomicInteger()).incrementAndGet()
      path.stripPrefix("/") match
        case "busy" if visit < 3 => answer(exchange, 503, "")
        case "busy" => answer(exchange, 200, "at last")
        case "silent" => Thread.sleep(60_000)
        case "" =>
          val links = (1 to pages).map(n => s"page$n") ++ List("busy", "silent", "missing")
          answer(exchange, 200, html(links ++ neighbour.map(_.toString)))
        case s"page$n" =>
          Thread.sleep(20) // what a page costs
          answer(exchange, 200, html(List("/", s"page${n.toInt % pages + 1}")))
        case _ => answer(exchange, 404, "")
    finally running.decrementAndGet(): Unit

  private def html(links: Seq[String]) =
    links.map(link => s"""<a href="$link">$link</a>""").mkString

  private def answer(exchange: HttpExchange, status: Int, body: String): Unit =
    val bytes = body.getBytes("UTF-8")
    exchange.sendResponseHeaders(status, if bytes.isEmpty then -1 else bytes.length)
    exchange.getResponseBody.write(bytes)
    exchange.close()

object TestSite:
  def apply(pages: Int): Resource[TestSite] =
    for
      threads <- Resource.make(Task(Executors.newVirtualThreadPerTaskExecutor()))(threads =>
        Task(threads.shutdownNow()).void
      )
      site <- Resource.make(Task {
        val server = HttpServer.create(InetSocketAddress("127.0.0.1", 0), 0)
        val site = new TestSite(server, pages)
        server.setExecutor(threads)
        server.createContext("/", exchange => site.handle(exchange))
        server.start()
        (site, server)
      })((_, server) => Task(server.stop(0)))
    yield site._1
