//> using scala 3.8.4
//> using jvm 25
//> using dep io.github.weir-scala::weir-core:0.1.0
//> using options -Wvalue-discard -Wnonunit-statement

// Fetches ten pages at a time, from a server in the same program: scala-cli run ten-pages.scala

import com.sun.net.httpserver.HttpServer
import java.net.{InetSocketAddress, URI}
import java.net.http.{HttpClient, HttpRequest, HttpResponse}
import java.util.concurrent.Executors
import scala.concurrent.duration.*
import weir.*

object TenPages extends WeirApp:
  private val server = Resource.make(Task {
    val server = HttpServer.create(InetSocketAddress("127.0.0.1", 0), 0)
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor())
    server.createContext(
      "/",
      exchange =>
        Thread.sleep(200) // a slow page
        val page = s"This is ${exchange.getRequestURI}".getBytes
        exchange.sendResponseHeaders(200, page.length)
        exchange.getResponseBody.write(page)
        exchange.close()
    )
    server.start()
    server
  })(server => Task(server.stop(0)))

  private val client = HttpClient.newHttpClient()

  private def page(address: String): Task[String] = Task {
    val request = HttpRequest.newBuilder(URI.create(address)).build()
    client.send(request, HttpResponse.BodyHandlers.ofString()).body()
  }

  def run(args: List[String]): Task[Unit] = server.use { server =>
    val addresses =
      (1 to 10).map(n => s"http://127.0.0.1:${server.getAddress.getPort}/$n").toList
    for
      started <- Task(System.nanoTime())
      pages <- Task.parTraverseN(10)(addresses)(page).timeout(10.seconds)
      took = (System.nanoTime() - started) / 1_000_000
      _ <- Task(println(s"${pages.mkString("\n")}\n${pages.size} pages of 200 ms in $took ms"))
      _ <- Task.raiseWhen(took > 1900)(IllegalStateException("they came one after the other"))
    yield ()
  }
