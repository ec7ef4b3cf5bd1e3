package weir.http

import java.util.concurrent.CountDownLatch
import scala.concurrent.duration.*
import weir.io.ServerSentEvent
import weir.{Deferred, Stream, Task}

class HttpServerEventsSuite extends HttpSuite:
  private val all = List(ServerSentEvent("one"), ServerSentEvent("a\nb", Some("kind"), Some("7")))

  test("a client reads what a server sends"):
    val handler = (_: Request) => Task.pure(Response.events(Stream.fromIterable(all)))
    val read = HttpServer.serve(0)(handler).use { server =>
      HttpClient.resource().use { client =>
        client
          .stream(Request.get(s"http://localhost:${server.port}/"))
          .use(response =>
            response.body.stream
              .through(ServerSentEvent.decode)
              .toList
              .map((response.headers.get("content-type"), _))
          )
      }
    }
    assertEquals(read.runSync(), (Some("text/event-stream"), all))

  test("the header fields are sent before the first event, and each event before the next one"):
    val go = Deferred.unsafe[Unit]
    val events = Stream.eval(go.get).as(all.head) ++ Stream.exec(Task.never)
    exchanging(_ => Task.pure(Response.events(events))) { connection =>
      connection.send("GET / HTTP/1.1\nHost: h\n\n")
      val (status, headers) = connection.head()
      assertEquals((status, headers("cache-control")), (200, "no-store"))
      go.complete(()).runSync(): Unit
      assertEquals(connection.chunk(), "data: one\n\n")
    }

  test("comments are sent while there is no event; the end of the events is the end of the body"):
    val ends = Deferred.unsafe[Unit]
    val response = Response.events(Stream.exec(ends.get), keepAlive = 10.millis)
    exchanging(_ => Task.pure(response)) { connection =>
      connection.send("GET / HTTP/1.1\nHost: h\n\n")
      connection.head(): Unit
      for _ <- 1 to 2 do assertEquals(connection.chunk(), ":\n\n")
      ends.complete(()).runSync(): Unit
      eventually("the body ends")(connection.chunk() == "")
    }

  test("the events are cancelled when the client goes"):
    val isClosed = CountDownLatch(1)
    val events = Stream.exec(Task.never).onFinalize(Task(isClosed.countDown()))
    exchanging(_ => Task.pure(Response.events(events))) { connection =>
      connection.send("GET / HTTP/1.1\nHost: h\n\n")
      connection.head(): Unit
      connection.close()
      await(isClosed)
    }
