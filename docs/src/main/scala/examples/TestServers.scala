package examples

import com.sun.net.httpserver.HttpServer
import java.net.{InetSocketAddress, URI}
import java.util.concurrent.{Executors, Semaphore}
import weir.{Resource, Task}

/** Servers that the pages' examples call. */
object TestServers:

  /** A web server whose pages take 50 ms. It answers 503 where more than `limit` are asked for at a
    * time.
    */
  def pages(limit: Int): Resource[URI] = Resource
    .make(Task {
      val free = Semaphore(limit)
      val server = HttpServer.create(InetSocketAddress("127.0.0.1", 0), 0)
      server.setExecutor(Executors.newVirtualThreadPerTaskExecutor())
      server.createContext(
        "/",
        exchange =>
          val admitted = free.tryAcquire()
          if admitted then
            Thread.sleep(50)
            free.release()
          val body = s"page ${exchange.getRequestURI}".getBytes("UTF-8")
          exchange.sendResponseHeaders(if admitted then 200 else 503, body.length)
          exchange.getResponseBody.write(body)
          exchange.close()
      )
      server.start()
      server
    })(server => Task(server.stop(0)))
    .map(server => URI.create(s"http://127.0.0.1:${server.getAddress.getPort}/"))
