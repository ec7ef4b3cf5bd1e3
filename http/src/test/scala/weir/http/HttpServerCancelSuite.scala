package weir.http

import java.util.concurrent.CountDownLatch
import scala.util.Random
import weir.{Deferred, Stream, Task, Tier}

class HttpServerCancelSuite extends HttpSuite:
  private final class Waiting:
    val isRunning = CountDownLatch(1)
    val isCancelled = CountDownLatch(1)
    def waits[A]: Task[A] =
      (Task(isRunning.countDown()) >> Task.never).onCancel(Task(isCancelled.countDown()))

  private val halfABody = "POST / HTTP/1.1\nHost: h\nContent-Length: 9\n\nabc"

  /** Sends `request`, and closes the connection once the handler runs. Then it is cancelled. */
  private def goesAway(waiting: Waiting, handler: Request => Task[Response])(
      request: String
  ): Unit =
    serving(handler) { port =>
      connected(port) { connection =>
        connection.send(request)
        await(waiting.isRunning)
      }
      await(waiting.isCancelled)
    }

  test("a client that goes away cancels the task of its request"):
    val waiting = Waiting()
    goesAway(waiting, _ => waiting.waits)("GET / HTTP/1.1\nHost: h\n\n")

  test("a client that goes away in the middle of its body cancels the task that does not read"):
    val waiting = Waiting()
    goesAway(waiting, _ => waiting.waits)(halfABody)

  test("a client that goes away in the middle of its body cancels the task that reads"):
    val waiting = Waiting()
    val handler = (request: Request) =>
      request.body.stream
        .evalForeach(_ => Task(waiting.isRunning.countDown()))
        .onCancel(Task(waiting.isCancelled.countDown()))
        .as(Response(200))
    goesAway(waiting, handler)(halfABody)

  test("a client that goes away ends a read of its body that is masked"):
    val isRunning = CountDownLatch(1)
    val failure = CountDownLatch(1)
    val handler = (request: Request) =>
      Task.uncancelable { _ =>
        (Task(isRunning.countDown()) >> request.body.text())
          .onError { case _: java.io.IOException => Task(failure.countDown()) }
          .map(Response.text(_))
      }
    serving(handler) { port =>
      connected(port) { connection =>
        connection.send("POST / HTTP/1.1\nHost: h\nContent-Length: 9\n\nabc")
        await(isRunning)
      }
      await(failure)
    }

  test("a client that goes away cancels the body that it is sent"):
    val waiting = Waiting()
    val blocks = Stream("abc".getBytes) ++ Stream.eval(waiting.waits[Array[Byte]])
    serving(_ => Task.pure(Response(200, body = Body.stream(blocks)))) { port =>
      connected(port) { connection =>
        connection.send("GET / HTTP/1.1\nHost: h\n\n")
        assertEquals(connection.head()._1, 200)
        await(waiting.isRunning)
      }
      await(waiting.isCancelled)
    }

  test("a client that has sent its next request already is noticed too"):
    val waiting = Waiting()
    serving(_ => waiting.waits) { port =>
      connected(port) { connection =>
        connection.send("GET /1 HTTP/1.1\nHost: h\n\n")
        await(waiting.isRunning)
        connection.send("GET /2 HTTP/1.1\nHost: h\n\n")
      }
      await(waiting.isCancelled)
    }

  test("a request that is cancelled leaves the server as it was"):
    val first = Waiting()
    val handler = (request: Request) => if request.path == "/1" then first.waits else ok(request)
    serving(handler, ServerSettings(requestLimit = 1)) { port =>
      connected(port) { connection =>
        connection.send("GET /1 HTTP/1.1\nHost: h\n\n")
        await(first.isRunning)
      }
      await(first.isCancelled)
      eventually("the next request is taken") {
        connected(port)(_.get("/2").status == 200)
      }
    }

  test("what comes while a request is handled belongs to the next request, wherever it is cut"):
    val seed = Tier.seed("weir.test.seed")
    println(s"cut at random places: -Dweir.test.seed=$seed")
    val random = Random(seed)
    val requests = 60
    val handler = (request: Request) =>
      for
        _ <- Task.cede.replicate(random.nextInt(4))
        body <- request.body.text()
        _ <- Task.cede.replicate(random.nextInt(4))
      yield Response.text(s"${request.path} $body")
    exchanging(handler) { connection =>
      val bodies = Vector.tabulate(requests)(n => "x" * (if n % 7 == 0 then 6000 else n))
      val all = bodies.zipWithIndex
        .map((body, n) =>
          s"POST /$n HTTP/1.1\r\nHost: h\r\nContent-Length: ${body.length}\r\n\r\n$body"
        )
        .mkString
      Thread.ofVirtual().start { () =>
        var rest = all
        while rest.nonEmpty do
          val (now, later) = rest.splitAt(1 + random.nextInt(3000))
          connection.sendBytes(now.getBytes)
          if random.nextInt(3) == 0 then Thread.sleep(0, 200_000)
          rest = later
      }: Unit
      for (body, n) <- bodies.zipWithIndex do assertEquals(connection.response().body, s"/$n $body")
    }

  test("a client that closes its output only counts as gone"):
    val waiting = Waiting()
    exchanging(_ => waiting.waits) { connection =>
      connection.send("GET / HTTP/1.1\nHost: h\n\n")
      await(waiting.isRunning)
      connection.endOfOutput()
      await(waiting.isCancelled)
      assert(connection.ends())
    }

  test("a finalizer may take its time: the request is in flight until then"):
    val go = Deferred.unsafe[Unit]
    val running = CountDownLatch(1)
    val handler = (_: Request) => (Task(running.countDown()) >> Task.never).onCancel(go.get)
    HttpServer
      .serve(0)(handler)
      .use { server =>
        Task {
          connected(server.port) { connection =>
            connection.send("GET / HTTP/1.1\nHost: h\n\n")
            await(running)
          }
          assertEquals(server.requestsInFlight, 1)
        } >> go.complete(()) >> Task(eventually("none is in flight")(server.requestsInFlight == 0))
      }
      .runSync()
