package weir.interop.sttp

import _root_.sttp.client4.*
import _root_.sttp.model.sse.ServerSentEvent
import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.AtomicInteger
import scala.concurrent.duration.DurationInt
import weir.http.{HttpServer, Response}
import weir.{RunTwice, Stream, Task, WeirSuite}

/** Tests cancels, unread bodies and back-pressure, which sttp's suites leave out. */
class TaskBackendSuite extends WeirSuite, RunTwice:
  private val block = new Array[Byte](64 * 1024)

  private def asking[A](handler: weir.http.Request => Task[Response])(
      body: (WebSocketStreamBackend[Task, WeirStreams], Int) => Task[A]
  ): A = HttpServer
    .serve(0)(handler)
    .use(server => TaskBackend.resource().use(body(_, server.port)))
    .runSync()

  complete(List(TaskBackend.getClass, WeirServerSentEvents.getClass))

  row("TaskBackend.resource")(List("ok", "ok"))(
    HttpServer.serve(0)(_ => Task.pure(Response.text("ok"))).use { server =>
      TaskBackend.resource().use { backend =>
        basicRequest
          .get(uri"http://localhost:${server.port}")
          .response(asStringOrFail)
          .send(backend)
          .map(_.body)
          .replicate(2)
      }
    }
  )

  private val event = ServerSentEvent(Some("a\nb"), Some("kind"), Some("7"), Some(10))
  private val eventText = "event: kind\nid: 7\nretry: 10\ndata: a\ndata: b\n\n"

  pipe("WeirServerSentEvents.parse")(s": comment\n\n: comment\n$eventText".getBytes)(event)(
    WeirServerSentEvents.parse
  )

  pipe("WeirServerSentEvents.write")(event)(eventText.getBytes)(WeirServerSentEvents.write)

  test("an event cannot begin another one, and loses nothing"):
    def written(event: ServerSentEvent) = Stream(event)
      .through(WeirServerSentEvents.write)
      .through(WeirServerSentEvents.parse)
      .toList
      .runSync()
    for data <- List("x\revent: admin\rdata: forged\r\r", "a\n", "\n", "") do
      assertEquals(
        written(ServerSentEvent(Some(data))),
        List(ServerSentEvent(Some(data.replace("\r", "\n"))))
      )
    for text <- List("1\n\ndata: forged", "1\r") do
      intercept[IllegalArgumentException](written(ServerSentEvent(id = Some(text)))): Unit
      intercept[IllegalArgumentException](written(ServerSentEvent(eventType = Some(text)))): Unit

  test("a request may be changed to one without a body, and to one with another stream"):
    val echo = (request: weir.http.Request) => request.body.text().map(Response.text(_))
    def asked(change: java.net.http.HttpRequest.Builder => Unit) =
      HttpServer.serve(0)(echo).use { server =>
        def customize(request: java.net.http.HttpRequest) =
          val builder = java.net.http.HttpRequest.newBuilder(request, (_, _) => true)
          change(builder)
          builder.build()
        TaskBackend.resource(customizeRequest = customize).use { backend =>
          basicRequest
            .post(uri"http://localhost:${server.port}")
            .streamBody(WeirStreams)(Stream("a".getBytes))
            .response(asStringOrFail)
            .send(backend)
            .map(_.body)
        }
      }
    assertEquals(asked(_.GET(): Unit).runSync(), "")
    val bytes = Stream(java.nio.ByteBuffer.wrap("b".getBytes)).toPublisher[java.nio.ByteBuffer]
    val other = java.net.http.HttpRequest.BodyPublishers.fromPublisher(bytes)
    assertEquals(asked(_.POST(other): Unit).runSync(), "b")

  test("a cancel closes the exchange: the server's task is cancelled too"):
    val begun, cancelled = CountDownLatch(1)
    val waits = Task(begun.countDown()).andThen(Task.never)
    asking(_ => waits.onCancel(Task(cancelled.countDown()))) { (backend, port) =>
      val request = basicRequest.get(uri"http://localhost:$port").send(backend)
      request.start
        .flatMap(fiber => Task(await(begun)).andThen(fiber.cancel))
        .andThen(Task(await(cancelled)))
    }

  /** A response without an end. The latch opens when the server has closed it. */
  private final class Endless:
    val sent = AtomicInteger()
    val closed = CountDownLatch(1)
    val response: Response = Response.stream(
      Stream
        .constant(block)
        .evalTap(_ => Task(sent.incrementAndGet()))
        .onFinalize(Task(closed.countDown())),
      "application/octet-stream"
    )

  /** A body without an end. The latch opens when its run has ended. */
  private def endless(begun: CountDownLatch, ended: CountDownLatch) =
    (Stream.emit(new Array[Byte](100)) ++ Stream.exec(Task(begun.countDown()).andThen(Task.never)))
      .onFinalize(Task(ended.countDown()))

  test("a server that answers early: a cancel ends the body of the request"):
    val begun, ended = CountDownLatch(1)
    asking(_ => Task(await(begun)).as(Response.text("no", 413))) { (backend, port) =>
      val request = basicRequest
        .post(uri"http://localhost:$port")
        .streamBody(WeirStreams)(endless(begun, ended))
        .send(backend)
      request.timeout(500.millis).attempt.andThen(Task(await(ended)))
    }

  test("a stream is not sent again after a redirect, and each send of a request sends it"):
    val handler = (request: weir.http.Request) =>
      request.body.text().map { text =>
        if request.path == "/a" then weir.http.Response(307, weir.http.Headers("Location" -> "/b"))
        else Response.text(text)
      }
    asking(handler) { (backend, port) =>
      def posted(path: String) = basicRequest
        .post(uri"http://localhost:$port/$path")
        .streamBody(WeirStreams)(Stream.emit("abc".getBytes))
        .response(asStringAlways)
        .send(backend)
        .map(_.body)
      posted("b").replicate(2).map(assertEquals(_, List("abc", "abc"))) >>
        posted("a").attempt.map { answer =>
          val message = answer.left.map(error => s"${error.getCause}")
          assert(message.left.exists(_.contains("cannot be sent again")), message)
        }
    }

  test("a body that is not read to its end is closed"):
    val endless = Endless()
    val size = asking(_ => Task.pure(endless.response)) { (backend, port) =>
      val read = asStreamAlways[Task, Int, WeirStreams](WeirStreams)(
        _.take(3).fold(0)(_ + _.length)
      )
      val size = basicRequest.get(uri"http://localhost:$port").response(read).send(backend)
      size.map(_.body).flatTap(_ => Task(await(endless.closed)))
    }
    assert(size > 0)

  test("a body that is not read at all is closed"):
    val endless = Endless()
    asking(_ => Task.pure(endless.response)) { (backend, port) =>
      val unread = asStreamAlways[Task, Unit, WeirStreams](WeirStreams)(_ => Task.unit)
      basicRequest
        .get(uri"http://localhost:$port")
        .response(unread)
        .send(backend)
        .andThen(Task(await(endless.closed)))
    }

  test("a cancel while a body is read closes it"):
    val endless = Endless()
    asking(_ => Task.pure(endless.response)) { (backend, port) =>
      val held = CountDownLatch(1)
      val read = asStreamAlways[Task, Unit, WeirStreams](WeirStreams)(
        _.evalForeach(_ => Task(held.countDown()).andThen(Task.never))
      )
      val request = basicRequest.get(uri"http://localhost:$port").response(read).send(backend)
      request.start
        .flatMap(fiber => Task(await(held)).andThen(fiber.cancel))
        .andThen(Task(await(endless.closed)))
    }

  test("a server does not send what nobody reads"):
    val endless = Endless()
    asking(_ => Task.pure(endless.response)) { (backend, port) =>
      // A reader that is busy with its first block.
      val held = asStreamAlways[Task, Unit, WeirStreams](WeirStreams)(
        _.evalTap(_ => Task(settled(endless.sent))).take(1).drain
      )
      basicRequest.get(uri"http://localhost:$port").response(held).send(backend)
    }: Unit
    // Buffers of the network hold some megabytes.
    assert(endless.sent.get < 1000, endless.sent)

  test("a request is asked for its blocks as the server reads"):
    val sent = AtomicInteger()
    val blocks = Stream.constant(block).take(1000).evalTap(_ => Task(sent.incrementAndGet()))
    val handler = (request: weir.http.Request) =>
      request.body.stream
        .evalTap(_ => Task(settled(sent)))
        .take(1)
        .drain
        .as(Response.text(s"${sent.get < 1000}"))
    val answer = asking(handler) { (backend, port) =>
      basicRequest
        .post(uri"http://localhost:$port")
        .streamBody(WeirStreams)(blocks)
        .response(asStringAlways)
        .send(backend)
        .map(_.body)
    }
    assertEquals(answer, "true")

  test("the operations of tasks: errors, and a finalizer that runs in any case"):
    val boom = RuntimeException("boom")
    val ran = AtomicInteger()
    def counted(task: => Task[Int]) = taskMonad.ensure2(task, Task(ran.incrementAndGet()).void)
    val failed = counted(taskMonad.error(boom))
    assertEquals(failed.attempt.runSync(), Left(boom))
    assertEquals(counted(throw boom).attempt.runSync(), Left(boom))
    assertEquals(taskMonad.handleError(failed) { case `boom` => Task.pure(1) }.runSync(), 1)
    assertEquals(ran.get, 3)
    assertEquals(taskMonad.handleError(throw boom) { case `boom` => Task.pure(1) }.runSync(), 1)

  test("a server that cannot be reached is named, and a released backend says so"):
    val port = HttpServer.serve(0)(_ => Task.never).use(server => Task.pure(server.port)).runSync()
    val request = basicRequest.get(uri"http://localhost:$port")
    val refused = intercept[SttpClientException.ConnectException](
      TaskBackend.resource().use(request.send(_)).runSync()
    )
    assertEquals(refused.getCause.getClass, classOf[java.net.ConnectException])
    assertEquals(
      refused.getCause.getMessage,
      s"TaskBackend: cannot connect to localhost:$port: the connection was refused, or there is " +
        "no way to that host."
    )
    val late = intercept[SttpClientException.ReadException](
      TaskBackend.resource().use(Task.pure).flatMap(request.send(_)).runSync()
    )
    assertEquals(
      late.getCause.getMessage,
      "TaskBackend: it has been released. Send requests only inside of the `use` of its resource."
    )

  test("a stub answers without a server"):
    val stub = TaskBackend.stub.whenAnyRequest.thenRespondAdjust("stubbed")
    val text = basicRequest.get(uri"http://localhost").response(asStringAlways).send(stub)
    assertEquals(text.map(_.body).runSync(), "stubbed")
