package weir.http

import java.net.ConnectException
import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.AtomicInteger
import scala.concurrent.duration.*
import weir.{Deferred, Stream, Task}

class HttpServerDrainSuite extends HttpSuite:

  /** Acquires a server, runs `body` with its port and a function that begins the release, and waits
    * for its end.
    */
  private def releasing(handler: Request => Task[Response], settings: ServerSettings)(
      body: (Int, () => Unit) => Unit
  ): Unit =
    val (server, release) = HttpServer.serve(0, settings)(handler).allocated.runSync()
    val released = CountDownLatch(1)
    body(
      server.port,
      () => Thread.ofVirtual().start(() => { release.runSync(); released.countDown() }): Unit
    )
    await(released)
    intercept[ConnectException](RawConnection(server.port)): Unit

  /** Waits until the server takes no connection any more. */
  private def untilRefused(port: Int): Unit = eventually("no connection is taken") {
    try
      RawConnection(port).close()
      false
    catch case _: java.io.IOException => true
  }

  test("requests in flight are answered, and no connection is taken any more"):
    val go = Deferred.unsafe[Unit]
    val running = CountDownLatch(8)
    val handler = (_: Request) => Task(running.countDown()) >> go.get.as(Response.text("ok"))
    releasing(handler, ServerSettings(drainTimeout = 1.minute)) { (port, release) =>
      val connections = List.fill(8)(RawConnection(port))
      connections.foreach(_.send("GET / HTTP/1.1\nHost: h\n\n"))
      await(running)
      release()
      untilRefused(port)
      go.complete(()).runSync(): Unit
      for connection <- connections do
        val response = connection.response()
        assertEquals(response.body, "ok")
        assertEquals(response.headers.get("connection"), Some("close"))
        assert(connection.ends())
        connection.close()
    }

  test("a request over a connection that was open already is answered while others drain"):
    val go = Deferred.unsafe[Unit]
    val running = CountDownLatch(1)
    val handler = (request: Request) =>
      if request.path == "/waits" then
        Task(running.countDown()) >> go.get.as(Response.text("waited"))
      else ok(request)
    releasing(handler, ServerSettings(drainTimeout = 1.minute)) { (port, release) =>
      val (first, second) = (RawConnection(port), RawConnection(port))
      assertEquals(second.get("/").body, "ok")
      first.send("GET /waits HTTP/1.1\nHost: h\n\n")
      await(running)
      release()
      untilRefused(port)
      val response = second.get("/")
      assertEquals(response.body, "ok")
      assertEquals(response.headers.get("connection"), Some("close"))
      go.complete(()).runSync(): Unit
      assertEquals(first.response().body, "waited")
      first.close()
      second.close()
    }

  test("requests that are late are cancelled and answered with 503, or aborted in their body"):
    val cancelled = CountDownLatch(2)
    val running = CountDownLatch(2)
    def waits[A]: Task[A] =
      (Task(running.countDown()) >> Task.never).onCancel(Task(cancelled.countDown()))
    val body = Body.stream(Stream("abc".getBytes) ++ Stream.eval(waits[Array[Byte]]))
    val handler = (request: Request) =>
      if request.path == "/body" then Task.pure(Response(200, body = body)) else waits
    releasing(handler, ServerSettings(drainTimeout = 50.millis)) { (port, release) =>
      val (plain, streamed) = (RawConnection(port), RawConnection(port))
      plain.send("GET / HTTP/1.1\nHost: h\n\n")
      streamed.send("GET /body HTTP/1.1\nHost: h\n\n")
      await(running)
      assertEquals(streamed.head()._1, 200)
      assertEquals(streamed.chunk(), "abc")
      release()
      assertEquals(plain.response().status, 503)
      await(cancelled)
      assert(!streamed.endsOrderly())
      plain.close()
      streamed.close()
    }

  test("responses in memory that their client does not read are cut off at the end of the drain"):
    val begun = AtomicInteger()
    val response = Response.text("x" * 60_000)
    val handler = (_: Request) => Task.delay { begun.incrementAndGet(): Unit; response }
    var connection: RawConnection | Null = null
    try
      releasing(handler, ServerSettings(drainTimeout = 50.millis, idleTimeout = 1.hour)) {
        (port, release) =>
          val client = RawConnection(port)
          connection = client
          client.send("GET / HTTP/1.1\nHost: h\n\n" * 1000)
          settled(begun)
          assert(begun.get < 1000)
          release()
      }
    finally if connection != null then connection.close()

  test("a client that pauses for more than a second keeps its time"):
    val running = CountDownLatch(1)
    val handler = (request: Request) =>
      request.body.stream
        .evalTap(_ => Task(running.countDown()))
        .map(_.length.toLong)
        .sum
        .map(n => Response.text(s"$n"))
    releasing(handler, ServerSettings(drainTimeout = 1.minute)) { (port, release) =>
      connected(port) { connection =>
        connection.send("POST / HTTP/1.1\nHost: h\nContent-Length: 6\n\nabc")
        await(running)
        release()
        Thread.sleep(1200)
        connection.send("def")
        assertEquals(connection.response().body, "6")
      }
    }

  test("the fields of a response that has not begun are not those of the answer"):
    val running = CountDownLatch(1)
    val fields = Headers("Set-Cookie" -> "a=b", "Content-Type" -> "image/png")
    val body = Body.stream(Stream.eval(Task(running.countDown()) >> Task.never))
    val handler = (_: Request) => Task.pure(Response(200, fields, body))
    releasing(handler, ServerSettings(drainTimeout = 0.seconds)) { (port, release) =>
      connected(port) { connection =>
        connection.send("GET / HTTP/1.1\nHost: h\n\n")
        await(running)
        release()
        val response = connection.response()
        assertEquals(response.status, 503)
        assertEquals(response.headers.get("set-cookie"), None)
        assertEquals(response.headers.get("content-type"), Some("text/plain; charset=utf-8"))
      }
    }

  test("readiness turns off first, while requests are still taken"):
    releasing(ok, ServerSettings(drainDelay = 1500.millis)) { (port, release) =>
      connected(port) { connection =>
        assertEquals(connection.get("/ready").status, 200)
        release()
        eventually("readiness turns off")(connected(port)(_.get("/ready").status == 503))
        connected(port) { late =>
          val response = late.get("/")
          assertEquals(response.status, 200)
          assertEquals(response.headers.get("connection"), Some("close"))
        }
        assertEquals(connected(port)(_.get("/health")).status, 200)
      }
    }

  test("the limits of time for handlers and header fields hold during the drain"):
    val settings = ServerSettings(
      handlerTimeout = 200.millis,
      headerTimeout = 200.millis,
      drainDelay = 1500.millis,
      drainTimeout = 1.minute
    )
    releasing(_ => Task.never, settings) { (port, release) =>
      release()
      eventually("readiness turns off")(connected(port)(_.get("/ready").status == 503))
      connected(port) { waits =>
        connected(port) { trickles =>
          waits.send("GET / HTTP/1.1\nHost: h\n\n")
          trickles.send("GET / HTTP/1.1\nHost: h\nX-A: ")
          assertEquals(waits.response().body, "The request took too long.\n")
          assertEquals(trickles.response().status, 408)
        }
      }
    }

  test("a release without requests does not wait"):
    releasing(ok, ServerSettings(drainTimeout = 1.hour)) { (port, release) =>
      connected(port)(_.get("/")): Unit
      release()
    }
