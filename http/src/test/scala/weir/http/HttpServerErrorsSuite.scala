package weir.http

import java.util.concurrent.CopyOnWriteArrayList
import java.util.logging.{Handler, LogRecord, Logger}
import scala.jdk.CollectionConverters.*
import weir.{Stream, Task}

class HttpServerErrorsSuite extends HttpSuite:
  private object Records extends Handler:
    private val all = CopyOnWriteArrayList[LogRecord]()
    def publish(record: LogRecord): Unit = all.add(record): Unit
    def flush(): Unit = ()
    def close(): Unit = ()
    def taken(): List[LogRecord] =
      val records = all.asScala.toList
      all.clear()
      records

  private val logger = Logger.getLogger("weir.http")

  override def beforeAll(): Unit =
    logger.addHandler(Records)
    logger.setUseParentHandlers(false)

  override def afterAll(): Unit =
    logger.removeHandler(Records)
    logger.setUseParentHandlers(true)

  private val secret = IllegalStateException("the password is x")

  test("an error of a handler is answered with 500, without a word about it, and logged once"):
    val body = Body.stream(Stream.fail(secret))
    for fails <- List[Request => Task[Response]](
        _ => Task.fail(secret),
        _ => throw secret,
        _ => Task.pure(Response(200, body = body))
      )
    do
      exchanging(fails) { connection =>
        val response = connection.get("/a?b=c")
        assertEquals(response.status, 500)
        assertEquals(response.body, "Internal Server Error\n")
        assert(!response.toString.contains("password"))
        assertEquals(connection.get("/health").status, 200)
      }
      val records = Records.taken()
      assertEquals(records.map(_.getThrown), List(secret))
      assert(records.head.getMessage.startsWith("GET /a?b=c failed"), records.head.getMessage)

  test("an HttpError is answered with its status and message, and not logged"):
    exchanging(_ => Task.fail(HttpError(404, "There is no user 7."))) { connection =>
      val response = connection.get("/")
      assertEquals(response.status, 404)
      assertEquals(response.body, "There is no user 7.\n")
    }
    assertEquals(Records.taken(), Nil)

  test("a body that fails before its first block is answered as its error says"):
    val body = Body.stream(Stream.fail(HttpError(404, "There is no user 7.")))
    val response = Response(200, Headers("Set-Cookie" -> "a=b"), body)
    exchanging(_ => Task.pure(response)) { connection =>
      val answer = connection.get("/")
      assertEquals((answer.status, answer.body), (404, "There is no user 7.\n"))
      assertEquals(answer.headers.get("set-cookie"), None)
      assert(answer.headers.contains("date"), answer)
    }
    assertEquals(Records.taken(), Nil)

  test("no response, or one whose body or status is none, is answered with 500"):
    val bodiless = Response(200, body = null.asInstanceOf[Body])
    for (response, why) <- List(
        (null, "no response"),
        (bodiless, "whose body is null"),
        (Response(600), "the status 600")
      )
    do
      exchanging(_ => Task.pure(response)) { connection =>
        assertEquals(connection.get("/").status, 500)
        assertEquals(connection.get("/health").status, 200)
      }
      val messages = Records.taken().map(_.getMessage)
      assert(messages.size == 1 && messages.head.contains(why), messages)

  test("fields that are the server's are its own"):
    val wrong = Headers("Content-Length" -> "5", "Transfer-Encoding" -> "gzip", "Keep-Alive" -> "x")
    for
      body <- List(Body.text("abc"), Body.stream(Stream("abc".getBytes)))
      status <- List(200, 204)
    do
      exchanging(_ => Task.pure(Response(status, wrong, body))) { connection =>
        for _ <- 1 to 2 do
          val response = connection.get("/")
          val length = Option.when(status == 200 && body.length.isDefined)("3")
          assertEquals(response.body, if status == 200 then "abc" else "")
          assertEquals(response.headers.get("content-length"), length)
          assertEquals(
            response.headers.get("transfer-encoding"),
            Option.when(status == 200 && body.length.isEmpty)("chunked")
          )
          assertEquals(response.headers.get("keep-alive"), None)
      }
    assertEquals(Records.taken(), Nil)

  test("a handler may close the connection"):
    exchanging(_ => Task.pure(Response.text("ok").withHeader("Connection", "close"))) {
      connection =>
        assertEquals(connection.get("/").headers.get("connection"), Some("close"))
        assert(connection.endsOrderly())
    }

  test("a response that cannot be sent is logged"):
    exchanging(_ => Task.pure(Response.text("ok").withHeader("X", "x" * 20_000))) { connection =>
      connection.send("GET / HTTP/1.1\nHost: h\n\n")
      assert(connection.ends())
    }
    assertEquals(Records.taken().size, 1)

  test("a body that fails before its end aborts the connection, once, and is logged once"):
    var finalized = 0
    val blocks = Stream("abc".getBytes).onFinalize(Task { finalized += 1 }) ++ Stream.fail(secret)
    for length <- List(None, Some(6L)) do
      exchanging(_ => Task.pure(Response(200, body = Body.stream(blocks, length)))) { connection =>
        connection.send("GET / HTTP/1.1\nHost: h\n\n")
        assertEquals(connection.head()._1, 200)
        intercept[java.io.IOException] {
          if length.isEmpty then while connection.chunk().nonEmpty do ()
          else connection.read(6): Unit
        }
        assert(!connection.endsOrderly())
      }
      assertEquals(Records.taken().map(_.getThrown), List(secret))
    assertEquals(finalized, 2)

  test("a body with another length than it says does not look complete, and is logged"):
    for (length, name) <- List(2L -> "more", 4L -> "3") do
      val body = Body.stream(Stream("abc".getBytes), Some(length))
      exchanging(_ => Task.pure(Response(200, body = body))) { connection =>
        if name == "more" then assertEquals(connection.get("/").status, 500)
        else
          connection.send("GET / HTTP/1.1\nHost: h\n\n")
          assert(connection.ends())
      }
      val message = Records.taken().map(_.getThrown.getMessage).mkString
      assert(message.contains(s"it has $length bytes, and has $name"), message)

  test("a handler that cancels itself is answered with 500"):
    exchanging(_ => Task.canceled >> Task.pure(Response(200))) { connection =>
      assertEquals(connection.get("/").status, 500)
    }
    assertEquals(Records.taken().size, 1)

  test("a request that is no HTTP is answered with 400, and the connection is closed"):
    exchanging(ok) { connection =>
      connection.send("nonsense\n\n")
      val response = connection.response()
      assertEquals(response.status, 400)
      assertEquals(response.body, "Bad Request\n")
      assert(connection.ends())
    }
    assertEquals(Records.taken(), Nil)

  test("a body that turns out malformed after the response has begun is no error of the server"):
    exchanging(request => Task.pure(Response(200, body = Body.stream(request.body.stream)))) {
      connection =>
        connection.send("POST / HTTP/1.1\nHost: h\nTransfer-Encoding: chunked\n\n3\nabc\n")
        connection.head(): Unit
        assertEquals(connection.chunk(), "abc")
        connection.send("zz\n")
        assert(connection.ends())
    }
    assertEquals(Records.taken(), Nil)
