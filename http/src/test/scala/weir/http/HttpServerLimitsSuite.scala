package weir.http

import java.util.concurrent.CountDownLatch
import scala.concurrent.duration.*
import weir.{Deferred, Task}

class HttpServerLimitsSuite extends HttpSuite:
  test("requests beyond the limit are refused with 503 and Retry-After, health is not"):
    val go = Deferred.unsafe[Unit]
    val running = CountDownLatch(2)
    val handler = (_: Request) => Task(running.countDown()) >> go.get.as(Response.text("ok"))
    serving(handler, ServerSettings(requestLimit = 2)) { port =>
      val first = RawConnection(port)
      val second = RawConnection(port)
      for connection <- List(first, second) do connection.send("GET / HTTP/1.1\nHost: h\n\n")
      await(running)
      connected(port) { third =>
        val refused = third.get("/")
        assertEquals(refused.status, 503)
        assertEquals(refused.headers("retry-after"), "1")
        assertEquals(third.get("/health").status, 200)
        go.complete(()).runSync(): Unit
        for connection <- List(first, second) do
          assertEquals(connection.response().status, 200)
          connection.close()
        eventually("requests are taken again")(third.get("/").status == 200)
      }
    }

  test("a client that has its response may send the next request, over any connection"):
    val large = Response(200, body = Body(Array.fill(100_000)('x'.toByte)))
    val handler =
      (request: Request) => if request.path == "/large" then Task.pure(large) else ok(request)
    serving(handler, ServerSettings(requestLimit = 1)) { port =>
      connected(port) { first =>
        connected(port) { second =>
          for n <- 1 to 40 do
            for connection <- List(first, first, second); path <- List("/", "/large") do
              assertEquals(connection.get(path).status, 200, (n, path))
        }
      }
    }

  test("header fields beyond the limit are refused with 431"):
    exchanging(ok, ServerSettings(headerLimitBytes = 1000)) { connection =>
      connection.send(s"GET / HTTP/1.1\nHost: h\nX-A: ${"x" * 500}\n\n")
      assertEquals(connection.response().status, 200)
      connection.send(s"GET / HTTP/1.1\nHost: h\nX-A: ${"x" * 1000}\n\n")
      val refused = connection.response()
      assertEquals(refused.status, 431)
      assertEquals(refused.headers("connection"), "close")
      assert(connection.ends())
    }

  test("header fields that do not come to their end are refused with 408"):
    exchanging(ok, ServerSettings(headerTimeout = 300.millis)) { connection =>
      connection.send("GET / HTTP/1.1\nHost: h\nX-A: ")
      val refused = connection.response()
      assertEquals(refused.status, 408)
      assert(connection.endsOrderly())
    }

  test("a trickle of header fields has no more time than others"):
    exchanging(ok, ServerSettings(headerTimeout = 400.millis)) { connection =>
      connection.send("GET / HTTP/1.1\nHost: h\nX-A: ")
      val sender = Thread.ofVirtual().start { () =>
        try
          while true do
            connection.send("x")
            Thread.sleep(5)
        catch case _: java.io.IOException => ()
      }
      assertEquals(connection.response().status, 408)
      sender.join()
    }

  test("a handler that takes too long is cancelled and answered with 503"):
    val cancelled = CountDownLatch(1)
    val handler = (_: Request) => Task.never.onCancel(Task(cancelled.countDown()))
    exchanging(handler, ServerSettings(handlerTimeout = 50.millis)) { connection =>
      val response = connection.get("/")
      assertEquals(response.status, 503)
      assertEquals(response.body, "The request took too long.\n")
      await(cancelled)
      assertEquals(connection.get("/health").status, 200)
    }

  test("a body that does not come to its end is answered with 408, and the connection closed"):
    val handler = (request: Request) => request.body.text().map(Response.text(_))
    for settings <- List(
        ServerSettings(handlerTimeout = 300.millis),
        ServerSettings(idleTimeout = 300.millis)
      )
    do
      exchanging(handler, settings) { connection =>
        connection.send("POST / HTTP/1.1\nHost: h\nContent-Length: 9\n\nabc")
        val response = connection.response()
        assertEquals(response.status, 408)
        assertEquals(response.body, "The body did not arrive in time.\n")
        assert(connection.ends())
      }

  test("a handler that has given up the body and then takes too long is answered with 503"):
    val handler =
      (request: Request) => request.body.bytes().void.timeoutTo(20.millis, Task.unit) >> Task.never
    exchanging(handler, ServerSettings(handlerTimeout = 1500.millis)) { connection =>
      connection.send("POST / HTTP/1.1\nHost: h\nContent-Length: 9\n\nabc")
      val response = connection.response()
      assertEquals(response.status, 503)
      assertEquals(response.body, "The request took too long.\n")
    }

  test("the time of a handler does not limit the sending of its body"):
    val slow = weir.Stream.range(0, 8).evalMap(n => Task.sleep(50.millis).as(s"$n".getBytes))
    exchanging(
      _ => Task.pure(Response.stream(slow, "text/plain")),
      ServerSettings(handlerTimeout = 100.millis)
    )(connection => assertEquals(connection.get("/").body, "01234567"))

  test("a handler may take longer than a connection may be idle"):
    val handler = (_: Request) => Task.sleep(1500.millis) >> Task.pure(Response.text("ok"))
    exchanging(handler, ServerSettings(idleTimeout = 1.second)) { connection =>
      assertEquals(connection.get("/").body, "ok")
    }

  test("an idle connection is closed"):
    exchanging(ok, ServerSettings(idleTimeout = 1.second)) { connection =>
      assertEquals(connection.get("/").status, 200)
      assert(connection.endsOrderly())
    }

  test("slow clients hold up nobody"):
    val handler = (request: Request) => request.body.text().map(Response.text(_))
    serving(handler) { port =>
      val slow = List.fill(200)(RawConnection(port))
      for (connection, n) <- slow.zipWithIndex do
        if n % 2 == 0 then connection.send("GET / HTTP/1.1\nHost: h\nX-A: ")
        else connection.send("POST / HTTP/1.1\nHost: h\nContent-Length: 9\n\nabc")
      connected(port)(fast => for _ <- 1 to 20 do assertEquals(fast.get("/").status, 200))
      slow.foreach(_.close())
    }
