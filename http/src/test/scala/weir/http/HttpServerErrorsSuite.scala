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
    for fails <- List[Request => Task[Response]](_ => Task.fail(secret), _ => throw secret) do
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

  test("a body with another length than it says aborts the connection, and is logged"):
    for (length, name) <- List(2L -> "more", 4L -> "3") do
      val body = Body.stream(Stream("abc".getBytes), Some(length))
      exchanging(_ => Task.pure(Response(200, body = body))) { connection =>
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
