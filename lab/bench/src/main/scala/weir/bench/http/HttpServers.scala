package weir.bench.http

import cats.effect.unsafe.implicits.global
import cats.effect.IO
import com.comcast.ip4s.{Port, ipv4}
import com.sun.net.httpserver.HttpServer as JdkServer
import java.net.InetSocketAddress
import java.nio.ByteBuffer
import java.nio.file.{Files, Path}
import java.util.concurrent.{CompletableFuture, Executors}
import org.eclipse.jetty.http.HttpHeader
import org.eclipse.jetty.io.Content
import org.eclipse.jetty.server.{Handler, Request, Response, Server, ServerConnector}
import org.eclipse.jetty.util.Callback
import org.eclipse.jetty.util.thread.QueuedThreadPool
import org.http4s.ember.server.EmberServerBuilder
import org.http4s.{HttpApp, Response as IOResponse}
import ox.{never, supervised}
import scala.concurrent.duration.DurationInt
import scala.jdk.CollectionConverters.*
import sttp.tapir.server.netty.sync.NettySyncServer
import sttp.tapir.{byteArrayBody, endpoint, header, stringBody, stringToPath}
import weir.http.{Body, HttpServer, Response as WeirResponse, ServerSettings}
import weir.{Stream, Task}

/** Servers with the same answers: `/hello`, `/json`, `/bytes` with 100 MB, and `/wait`, which never
  * comes. Starts one of them, prints its port and its process, and serves until its input ends. For
  * each byte of its input it collects garbage, and prints how many MB are in use.
  */
object HttpServers:
  private val hello = "hello, world".getBytes
  private val json = """{"id":7,"name":"a name","tags":["a","b","c"],"total":12.5}""".getBytes
  private val block = Array.fill(65536)('x'.toByte)
  private val blocks = 1600
  private val allBytes = block.length.toLong * blocks

  def main(args: Array[String]): Unit =
    val port = args(0) match
      case "weir" => weirServer()
      case "jetty" => jettyServer()
      case "jdk" => jdkServer()
      case "ember" => emberServer()
      case "tapir" => tapirServer()
    println(s"$port ${ProcessHandle.current.pid}")
    while System.in.read() >= 0 do println(usedMemory())
    System.exit(0)

  private def usedMemory(): String =
    System.gc()
    val heap = Runtime.getRuntime.totalMemory - Runtime.getRuntime.freeMemory
    val resident = Files
      .readAllLines(Path.of("/proc/self/status"))
      .asScala
      .collectFirst { case s"VmRSS:$kilobytes kB" => kilobytes.trim.toInt / 1000 }
    s"heap ${heap / 1_000_000} MB, resident ${resident.getOrElse(0)} MB"

  private def weirServer(): Int =
    val body = Stream.range(0, blocks).map(_ => block)
    val (server, _) = HttpServer
      .serve(0, ServerSettings(requestLimit = 100_000, handlerTimeout = 1.hour)) { request =>
        request.path match
          case "/hello" => Task.pure(WeirResponse.text("hello, world"))
          case "/json" => Task.pure(WeirResponse.json(json))
          case "/wait" => Task.never
          case _ => Task.pure(WeirResponse(200, body = Body.stream(body, Some(allBytes))))
      }
      .allocated
      .runSync()
    server.port

  private def jettyServer(): Int =
    val threads = QueuedThreadPool(8, 4)
    threads.setReservedThreads(0)
    val server = Server(threads)
    val connector = ServerConnector(server)
    connector.setHost("localhost")
    connector.setAcceptQueueSize(1024)
    server.addConnector(connector)
    server.setHandler(
      new Handler.Abstract.NonBlocking:
        def handle(request: Request, response: Response, callback: Callback): Boolean =
          def answer(bytes: Array[Byte], contentType: String): Unit =
            response.getHeaders.put(HttpHeader.CONTENT_TYPE, contentType): Unit
            response.getHeaders.put(HttpHeader.CONTENT_LENGTH, bytes.length.toLong): Unit
            response.write(true, ByteBuffer.wrap(bytes), callback)
          request.getHttpURI.getPath match
            case "/hello" => answer(hello, "text/plain")
            case "/json" => answer(json, "application/json")
            case "/wait" => request.addIdleTimeoutListener(_ => false)
            case _ =>
              response.getHeaders.put(HttpHeader.CONTENT_LENGTH, allBytes): Unit
              val parts = Array.fill(blocks)(ByteBuffer.wrap(block).slice())
              Content.copy(Content.Source.from(parts*), response, callback)
          true
    )
    server.start()
    connector.getLocalPort

  private def jdkServer(): Int =
    val server = JdkServer.create(InetSocketAddress("localhost", 0), 1024)
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor())
    def answer(path: String, bytes: Array[Byte], contentType: String): Unit =
      server.createContext(
        path,
        exchange =>
          exchange.getResponseHeaders.set("Content-Type", contentType)
          exchange.sendResponseHeaders(200, bytes.length)
          exchange.getResponseBody.write(bytes)
          exchange.close()
      ): Unit
    answer("/hello", hello, "text/plain")
    answer("/json", json, "application/json")
    server.createContext("/wait", _ => Thread.sleep(3_600_000)): Unit
    server.createContext(
      "/bytes",
      exchange =>
        exchange.sendResponseHeaders(200, allBytes)
        for _ <- 0 until blocks do exchange.getResponseBody.write(block)
        exchange.close()
    ): Unit
    server.start()
    server.getAddress.getPort

  private def emberServer(): Int =
    val body =
      fs2.Stream.emits(0 until blocks).flatMap(_ => fs2.Stream.chunk(fs2.Chunk.array(block)))
    val app = HttpApp[IO](request =>
      request.uri.path.renderString match
        case "/hello" => IO.pure(IOResponse[IO]().withEntity("hello, world"))
        case "/json" => IO.pure(IOResponse[IO]().withEntity(json))
        case "/wait" => IO.never
        case _ =>
          val length = org.http4s.headers.`Content-Length`.unsafeFromLong(allBytes)
          IO.pure(IOResponse[IO](body = body, headers = org.http4s.Headers(length)))
    )
    val (server, _) = EmberServerBuilder
      .default[IO]
      .withHost(ipv4"127.0.0.1")
      .withPort(Port.fromInt(0).get)
      .withHttpApp(app)
      .withMaxConnections(100_000)
      .build
      .allocated
      .unsafeRunSync()
    server.address.getPort

  /** The body of `/bytes` is in memory. An input stream overflows the stack after 4 MB, in the
    * newest version that resolves: tapir's pull request 5159 mended it.
    */
  private def tapirServer(): Int =
    val allInMemory = Array.fill(blocks)(block).flatten
    val server = NettySyncServer()
      .host("localhost")
      .port(0)
      .modifyConfig(_.copy(requestTimeout = None, idleTimeout = None, socketBacklog = 1024))
      .addEndpoint(endpoint.get.in("hello").out(stringBody).handleSuccess(_ => "hello, world"))
      .addEndpoint(
        endpoint.get
          .in("json")
          .out(header("Content-Type", "application/json"))
          .out(byteArrayBody)
          .handleSuccess(_ => json)
      )
      .addEndpoint(
        endpoint.get.in("wait").out(stringBody).handleSuccess { _ =>
          Thread.sleep(3_600_000)
          ""
        }
      )
      .addEndpoint(
        endpoint.get
          .in("bytes")
          .out(byteArrayBody)
          .handleSuccess(_ => allInMemory)
      )
    val port = CompletableFuture[Int]()
    Thread
      .ofPlatform()
      .daemon()
      .start(() =>
        supervised {
          port.complete(server.start().port): Unit
          never
        }
      ): Unit
    port.get
