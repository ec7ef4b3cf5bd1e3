package weir.http

import java.util.concurrent.TimeUnit.SECONDS
import java.util.concurrent.{CountDownLatch, LinkedBlockingQueue}
import java.util.concurrent.atomic.AtomicInteger
import scala.concurrent.duration.*
import weir.{Stream, Task}

class HttpServerBodiesSuite extends HttpSuite:
  private val block = Array.fill(65536)('x'.toByte)

  test("a body is read block by block, and sent back while it arrives"):
    val echo =
      (request: Request) => Task.pure(Response(200, body = Body.stream(request.body.stream)))
    exchanging(echo) { connection =>
      connection.send("POST / HTTP/1.1\nHost: h\nTransfer-Encoding: chunked\n\n")
      for word <- List("one", "three", "fourteen") do
        connection.send(s"${word.length.toHexString}\n$word\n")
        if word == "one" then assertEquals(connection.head()._1, 200)
        assertEquals(connection.chunk(), word)
      connection.send("0\n\n")
      assertEquals(connection.chunk(), "")
      assertEquals(
        {
          connection.send("POST / HTTP/1.1\nHost: h\nContent-Length: 2\n\nab");
          connection.response().body
        },
        "ab"
      )
    }

  test("a client that does not read is sent no more than the buffers of the sockets hold"):
    val pulled = AtomicInteger()
    val isClosed = CountDownLatch(1)
    val endless = Stream
      .repeatEval(Task { pulled.incrementAndGet(): Unit; block })
      .onFinalize(Task(isClosed.countDown()))
    serving(_ => Task.pure(Response(200, body = Body.stream(endless)))) { port =>
      connected(port) { connection =>
        connection.send("GET / HTTP/1.1\nHost: h\n\n")
        assertEquals(connection.head()._1, 200)
        settled(pulled)
        assert(pulled.get < 400, pulled.get)
        val stopped = pulled.get
        connection.read(stopped / 2 * 65536): Unit
        eventually("blocks are asked for again")(pulled.get > stopped)
      }
      await(isClosed)
    }

  test("a handler that does not read keeps the client from sending"):
    val go = weir.Deferred.unsafe[Unit]
    val handler = (request: Request) =>
      go.get >> request.body.stream.map(_.length.toLong).sum.map(n => Response.text(s"$n"))
    exchanging(handler, ServerSettings(bodyLimitBytes = Long.MaxValue)) { connection =>
      val blocks = 512
      val sent = AtomicInteger()
      connection.send(s"POST / HTTP/1.1\nHost: h\nContent-Length: ${blocks * 65536}\n\n")
      val sender = Thread.ofVirtual().start { () =>
        for _ <- 1 to blocks do
          connection.sendBytes(block)
          sent.incrementAndGet(): Unit
      }
      settled(sent)
      assert(sent.get < blocks, sent.get)
      go.complete(()).runSync(): Unit
      assertEquals(connection.response().body, s"${blocks * 65536}")
      sender.join()
    }

  test("a body above the limit is refused: at once if it is announced, else where it passes it"):
    var isCalled = false
    val handler =
      (request: Request) => Task { isCalled = true } >> request.body.text().map(Response.text(_))
    val settings = ServerSettings(bodyLimitBytes = 5)
    serving(handler, settings) { port =>
      connected(port) { connection =>
        connection.send("POST / HTTP/1.1\nHost: h\nContent-Length: 6\n\n")
        assertEquals(connection.response().status, 413)
        assert(connection.ends())
        assert(!isCalled)
      }
      connected(port) { connection =>
        connection.send("POST / HTTP/1.1\nHost: h\nTransfer-Encoding: chunked\n\n3\nabc\n3\ndef")
        val response = connection.response()
        assertEquals(response.status, 413)
        assertEquals(response.body, "The body has more than 5 bytes.\n")
        assertEquals(response.headers("connection"), "close")
        assert(connection.ends())
      }
      connected(port) { connection =>
        connection.send("POST / HTTP/1.1\nHost: h\nContent-Length: 5\n\nabcde")
        assertEquals(connection.response().body, "abcde")
        assertEquals(connection.get("/").body, "")
      }
    }

  test("a body that nobody reads does not spoil the next request"):
    exchanging(ok) { connection =>
      connection.send("POST / HTTP/1.1\nHost: h\nContent-Length: 5\n\nabcde")
      assertEquals(connection.response().body, "ok")
      assertEquals(connection.get("/").body, "ok")
    }

  test("a body that nobody has read is no request that is late"):
    val isSent = CountDownLatch(1)
    val handler = (_: Request) => Task { await(isSent) } >> Task.pure(Response.text("ok"))
    exchanging(handler, ServerSettings(headerTimeout = 1.second)) { connection =>
      connection.send(
        s"POST / HTTP/1.1\nHost: h\nContent-Length: 40000\n\n${"x" * 40_000}"
      )
      isSent.countDown()
      val response = connection.response()
      assertEquals((response.body, response.headers.get("connection")), ("ok", None))
      Thread.sleep(1300)
      assertEquals(connection.get("/").body, "ok")
    }

  test("a response says that the connection ends, if the request's body is outstanding"):
    exchanging(ok) { connection =>
      connection.send("POST / HTTP/1.1\nHost: h\nContent-Length: 5\n\nabc")
      assertEquals(connection.response().headers.get("connection"), Some("close"))
    }

  test("a request without a body has an empty one"):
    val handler = (request: Request) => Task.pure(Response.text(s"${request.body.length}"))
    exchanging(handler) { connection =>
      assertEquals(connection.get("/").body, "Some(0)")
      connection.send("POST / HTTP/1.1\nHost: h\nContent-Length: 2\n\nab")
      assertEquals(connection.response().body, "Some(2)")
      connection.send("POST / HTTP/1.1\nHost: h\nTransfer-Encoding: chunked\n\n0\n\n")
      assertEquals(connection.response().body, "None")
    }

  test("HEAD says nothing of a length that nobody knows, and 205 has no body"):
    val stream = Body.stream(Stream("abc".getBytes))
    val handler = (request: Request) =>
      Task.pure(request.path match
        case "/stream" => Response(200, body = stream)
        case "/text" => Response.text("abc")
        case _ => Response(205, body = Body.text("abc")))
    exchanging(handler) { connection =>
      def head(path: String) =
        connection.send(s"HEAD $path HTTP/1.1\nHost: h\n\n")
        connection.response(toHead = true).headers
      assertEquals(head("/stream").get("content-length"), None)
      assertEquals(head("/text").get("content-length"), Some("3"))
      assertEquals(connection.get("/205").headers.get("content-length"), Some("0"))
      assertEquals(connection.get("/stream").body, "abc")
    }

  test("an empty block sends the header fields before the first byte of the body"):
    val go = weir.Deferred.unsafe[Unit]
    val events = Stream(Array.emptyByteArray) ++ Stream.eval(go.get.as("abc".getBytes))
    exchanging(_ => Task.pure(Response.stream(events, "text/event-stream"))) { connection =>
      connection.send("GET / HTTP/1.1\nHost: h\n\n")
      assertEquals(connection.head()._1, 200)
      go.complete(()).runSync(): Unit
      assertEquals(connection.chunk(), "abc")
    }

  test("a wait for a block that was cancelled loses nothing"):
    val isOver = CountDownLatch(1)
    val handler = (request: Request) =>
      for
        early <- request.body.stream.head.timeoutTo(20.millis, Task.pure(None))
        _ <- Task(isOver.countDown())
        all <- request.body.text()
      yield Response.text(s"${early.size}, then $all")
    exchanging(handler) { connection =>
      connection.send("POST / HTTP/1.1\nHost: h\nContent-Length: 5\n\n")
      await(isOver)
      connection.send("abcde")
      assertEquals(connection.response().body, "0, then abcde")
    }

  test("a body that was read to its end cannot be read again"):
    val handler = (request: Request) =>
      for
        first <- request.body.text()
        text <- request.body.text().attempt
        blocks <- request.body.stream.drain.attempt
      yield Response.text(List(Right(first), text, blocks).map(shown).mkString("|"))
    exchanging(handler) { connection =>
      connection.send("POST / HTTP/1.1\nHost: h\nContent-Length: 3\n\nabc")
      val error = "IllegalStateException: The body was read to its end, and can be read once. " +
        "Keep its bytes or its text."
      assertEquals(connection.response().body, s"abc|$error|$error")
      assertEquals(connection.get("/").body, "||Right(())")
    }

  test("a body cannot be read once its request has ended, and a wait for it ends"):
    val bodies = LinkedBlockingQueue[Body]()
    val read = LinkedBlockingQueue[Either[Throwable, String]]()
    val isWaiting = CountDownLatch(1)
    val handler = (request: Request) =>
      if request.path == "/wait" then
        val first = request.body.stream.head
        val rest = request.body.text().attempt.map(read.add)
        (first >> Task(isWaiting.countDown()) >> rest).startDaemon >>
          Task(await(isWaiting)).as(Response(204))
      else Task { bodies.add(request.body): Unit; Response(204) }
    serving(handler) { port =>
      for (path, body) <- List("/" -> "abc", "/wait" -> "a") do
        connected(port) { connection =>
          connection.send(s"POST $path HTTP/1.1\nHost: h\nContent-Length: 3\n\n$body")
          assertEquals(connection.response().status, 204)
        }
      val kept = bodies.take()
      eventually("the request has ended")(kept.text().attempt.runSync().isLeft)
      for result <- List(kept.text().attempt.runSync(), read.poll(10, SECONDS)) do
        assertEquals(
          shown(result),
          "IllegalStateException: The request has ended, so its body can no longer be read. Read " +
            "it before the handler returns."
        )
    }

  private def shown(result: Either[Throwable, Any]): String = result match
    case Right(()) => "Right(())"
    case Right(text) => s"$text"
    case Left(error) => s"${error.getClass.getSimpleName}: ${error.getMessage}"

  test("the bytes in memory are limited too"):
    val handler = (request: Request) => request.body.bytes(limitBytes = 3).map(_ => Response(200))
    exchanging(handler) { connection =>
      connection.send("POST / HTTP/1.1\nHost: h\nTransfer-Encoding: chunked\n\n4\nabcd\n0\n\n")
      assertEquals(connection.response().body, "The body has more than 3 bytes.\n")
    }

  test("what a body holds is freed once it is sent, also one that is small, and before the drain"):
    val go = weir.Deferred.unsafe[Unit]
    val bytes = "abc".getBytes
    val free = Task(java.util.Arrays.fill(bytes, 'z'.toByte)) >> go.get
    val isFreed = CountDownLatch(1)
    val body = Body(bytes).onRelease(free >> Task(isFreed.countDown()))
    serving(_ => Task.pure(Response(200, body = body))) { port =>
      connected(port)(connection => assertEquals(connection.get("/").body, "abc"))
      assertEquals(isFreed.getCount, 1L)
      go.complete(()).runSync(): Unit
    }
    assertEquals(isFreed.getCount, 0L)
