package weir.http

import java.io.IOException
import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.AtomicReference
import javax.net.ssl.SSLContext
import scala.concurrent.duration.*
import weir.io.TlsContexts
import weir.io.TlsContexts.{local, other}
import weir.{Deferred, Resource, Stream, Task}

/** The server and the client with TLS. */
class HttpTlsSuite extends HttpSuite:
  private val secured = ServerSettings(tls = Some(Tls(local)))

  private def client(context: SSLContext = local): Resource[HttpClient] =
    HttpClient.resource(ClientSettings(tls = Some(Tls(context))))

  private def text(client: HttpClient, port: Int, path: String = "/"): Task[String] =
    client.send(Request.get(s"https://localhost:$port$path")).flatMap(_.body.text())

  private def tlsConnected[A](port: Int)(body: RawConnection => A): A =
    val connection = RawConnection(port, context = Some(local))
    try body(connection)
    finally connection.close()

  test("a server and a client speak TLS, over one connection and over many"):
    val handler = (request: Request) => Task.pure(Response.text(s"${request.uri}"))
    serving(handler, secured) { port =>
      def texts(client: HttpClient) = Task
        .parTraverse(1 to 20)(n => text(client, port, s"/$n"))
        .flatMap(all => text(client, port, "/last").map(all.toList :+ _))
      val all = client().use(texts).timeout(20.seconds).runSync()
      assertEquals(all, ((1 to 20).toList :+ "last").map(n => s"https://localhost:$port/$n"))
    }

  test("bodies are streams both ways, and large ones in memory arrive"):
    val handler = (request: Request) =>
      if request.path == "/large" then Task.pure(Response.text("y" * 3_000_000))
      else Task.pure(Response(200, body = Body.stream(request.body.stream)))
    serving(handler, secured) { port =>
      val blocks = Stream.range(0, 100).map(n => Array.fill(10_000)(n.toByte))
      val echoed = client().use { client =>
        val echo = Request.post(s"https://localhost:$port/", Body.stream(blocks))
        client.send(echo).flatMap(_.body.bytes()).both(text(client, port, "/large").map(_.length))
      }
      val (bytes, length) = echoed.timeout(20.seconds).runSync()
      assertEquals(
        (bytes.length, bytes.map(_.toLong).sum, length),
        (1_000_000, 49_500_000L, 3_000_000)
      )
    }

  test("a client that does not trust the certificate fails, one that speaks no TLS is closed"):
    serving(ok, secured) { port =>
      val refused = client(other).use(text(_, port).attempt).runSync()
      assert(refused.left.exists(_.isInstanceOf[IOException]), refused)
      connected(port) { plain =>
        plain.send("GET / HTTP/1.1\nHost: h\n\n" * 20)
        assert(plain.ends())
      }
      assertEquals(client().use(text(_, port)).runSync(), "ok")
    }

  test("a client that goes away cancels the task of its request"):
    val isRunning = CountDownLatch(1)
    val isCancelled = CountDownLatch(1)
    val waits = (Task(isRunning.countDown()) >> Task.never).onCancel(Task(isCancelled.countDown()))
    serving(_ => waits, secured) { port =>
      tlsConnected(port) { connection =>
        connection.send("GET / HTTP/1.1\nHost: h\n\n")
        await(isRunning)
      }
      await(isCancelled)
    }

  test("what comes while a request is handled belongs to the next request"):
    val go = Deferred.unsafe[Unit]
    val isRunning = CountDownLatch(1)
    val handler = (request: Request) =>
      if request.path == "/1" then Task(isRunning.countDown()) >> go.get >> ok(request)
      else request.body.text().map(Response.text(_))
    serving(handler, secured) { port =>
      tlsConnected(port) { connection =>
        connection.send("GET /1 HTTP/1.1\nHost: h\n\n")
        await(isRunning)
        val body = "z" * 50_000 // more than is read ahead
        val sender = Thread
          .ofVirtual()
          .start(() =>
            connection.send(s"POST /2 HTTP/1.1\nHost: h\nContent-Length: ${body.length}\n\n$body")
          )
        go.complete(()).runSync(): Unit
        assertEquals(connection.response().body, "ok")
        assertEquals(connection.response().body, body)
        sender.join()
      }
    }

  test("header fields and handshakes have their time, and the time between requests is no part"):
    serving(ok, secured.copy(headerTimeout = 1500.millis)) { port =>
      connected(port) { silent =>
        silent.sendBytes(Array(22, 3, 1, 2, 0, 1)) // the beginning of a handshake
        tlsConnected(port) { connection =>
          assertEquals(connection.get("/").status, 200)
          assert(silent.ends()) // which takes as long as the header fields may
          assertEquals(connection.get("/").status, 200)
          connection.send("GET / HTTP/1.1\nHost: h\nX-A: ")
          assertEquals(connection.response().status, 408)
          assert(connection.ends())
        }
      }
    }

  test("requests in flight are answered while the server drains"):
    val go = Deferred.unsafe[Unit]
    val isRunning = CountDownLatch(1)
    val handler = (request: Request) => Task(isRunning.countDown()) >> go.get >> ok(request)
    val settings = secured.copy(drainTimeout = 1.minute)
    val (server, release) = HttpServer.serve(0, settings)(handler).allocated.runSync()
    tlsConnected(server.port) { connection =>
      connection.send("GET / HTTP/1.1\nHost: h\n\n")
      await(isRunning)
      val released = release.start.runSync()
      eventually("no connection is taken") {
        try
          RawConnection(server.port).close()
          false
        catch case _: IOException => true
      }
      go.complete(()).runSync(): Unit
      val response = connection.response()
      assertEquals((response.body, response.headers.get("connection")), ("ok", Some("close")))
      assert(connection.endsOrderly())
      released.joinOrFail.timeout(20.seconds).runSync()
    }

  test("another certificate needs no restart"):
    val context = AtomicReference(local)
    serving(ok, ServerSettings(tls = Some(Tls(context.get)))) { port =>
      def answers(trusted: SSLContext) =
        client(trusted).use(text(_, port).attempt).runSync().isRight
      assertEquals((answers(local), answers(other)), (true, false))
      context.set(other)
      assertEquals((answers(local), answers(other)), (false, true))
    }

  test("a server may ask for the client's certificate"):
    val settings = ServerSettings(tls = Some(Tls(local, _.setNeedClientAuth(true))))
    val without = SSLContext.getInstance("TLS")
    serving(ok, settings) { port =>
      assertEquals(client().use(text(_, port)).runSync(), "ok")
      without.init(null, TlsContexts.trust, null)
      assert(client(without).use(text(_, port).attempt).runSync().isLeft)
    }

  test("parameters that cannot be set fail the server at once"):
    val wrong = ServerSettings(tls = Some(Tls(local, _.setCipherSuites(Array("NONE")))))
    val refused = HttpServer.serve(0, wrong)(ok).use(_ => Task.unit).attempt.runSync()
    assert(refused.left.exists(_.isInstanceOf[IllegalArgumentException]), refused)
