package weir.http

import java.io.IOException
import java.net.ConnectException
import java.net.http.HttpTimeoutException
import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.AtomicInteger
import scala.concurrent.duration.*
import weir.io.Bytes
import weir.{Schedule, Stream, Task}

class HttpClientSuite extends HttpSuite:

  /** Runs `body` with a client and the address of a server. */
  private def calling[A](
      handler: Request => Task[Response],
      settings: ClientSettings = ClientSettings(),
      server: ServerSettings = ServerSettings()
  )(body: (HttpClient, String) => Task[A]): A =
    serving(handler, server) { port =>
      HttpClient.resource(settings).use(client => body(client, s"http://localhost:$port")).runSync()
    }

  test("a request is sent with method, address, header fields and body"):
    val shown = (request: Request) =>
      request.body
        .text()
        .map(body =>
          Response
            .text(s"${request.method} ${request.path} ${request.headers.all("X-A")} $body", 418)
        )
    calling(shown) { (client, address) =>
      val request = Request.post(s"$address/a?b", Body.text("c"))
      for response <- client.send(request.copy(headers = Headers("X-A" -> "1", "X-A" -> "2")))
      yield
        assertEquals(response.status, 418)
        assert(!response.isSuccess)
        assertEquals(response.body.text().runSync(), "POST /a Vector(1, 2) c")
    }

  test("a body that is streamed goes there and back, block by block"):
    val echo =
      (request: Request) => Task.pure(Response(200, body = Body.stream(request.body.stream)))
    for length <- List(None, Some(2_000_000L)) do
      calling(echo) { (client, address) =>
        val blocks = Stream.range(0, 200).map(n => Array.fill(10_000)(n.toByte))
        client.stream(Request.post(address, Body.stream(blocks, length))).use { response =>
          for
            back <- Bytes.digest(response.body.stream, "SHA-256")
            there <- Bytes.digest(blocks, "SHA-256")
          yield assertEquals(back.toList, there.toList)
        }
      }

  test("a response that nobody reads keeps the server from sending"):
    val pulled = AtomicInteger()
    val isClosed = CountDownLatch(1)
    val block = Array.fill(65536)('x'.toByte)
    val endless = Stream
      .repeatEval(Task { pulled.incrementAndGet(): Unit; block })
      .onFinalize(Task(isClosed.countDown()))
    calling(_ => Task.pure(Response(200, body = Body.stream(endless)))) { (client, address) =>
      client.stream(Request.get(address)).use { response =>
        for
          first <- response.body.stream.head
          _ <- Task {
            assert(first.isDefined)
            settled(pulled)
          }
        yield assert(pulled.get < 400, pulled.get)
      } >> Task(await(isClosed))
    }

  test("each byte of a response is read once, by one stream after the other"):
    val blocks = Stream("a".getBytes) ++ Stream("bc".getBytes)
    calling(_ => Task.pure(Response(200, body = Body.stream(blocks)))) { (client, address) =>
      client.stream(Request.get(address)).use { response =>
        for
          first <- response.body.stream.head
          rest <- response.body.text()
          again <- response.body.text().attempt
          blocks <- response.body.stream.drain.attempt
        yield
          assertEquals((first.map(String(_)), rest), (Some("a"), "bc"))
          for result <- List(again, blocks) do
            result match
              case Left(error: IllegalStateException) =>
                assert(error.getMessage.startsWith("The body was read to its end"), error)
              case other => fail(s"$other")
      }
    }

  test("a body in memory can be read again"):
    calling(ok) { (client, address) =>
      for
        response <- client.send(Request.get(address))
        twice <- response.body.text().replicate(2)
      yield assertEquals(twice.toList, List("ok", "ok"))
    }

  test("a body fails after the use of its response"):
    calling(_ =>
      Task.pure(Response(200, body = Body.stream(Stream("abc".getBytes) ++ Stream.never)))
    ) { (client, address) =>
      for
        body <- client.stream(Request.get(address)).use(response => Task.pure(response.body))
        error <- body.text().attempt
      yield assert(error.left.exists(_.getMessage.contains("Read its body within it")), error)
    }

  test("a cancel closes the exchange, before the response and in its body"):
    val cancelled = CountDownLatch(2)
    val running = CountDownLatch(2)
    def waits[A]: Task[A] =
      (Task(running.countDown()) >> Task.never).onCancel(Task(cancelled.countDown()))
    val body = Body.stream(Stream("abc".getBytes) ++ Stream.eval(waits[Array[Byte]]))
    calling(r => if r.path == "/body" then Task.pure(Response(200, body = body)) else waits) {
      (client, address) =>
        for
          first <- client.send(Request.get(address)).start
          second <- client.send(Request.get(s"$address/body")).start
          _ <- Task(await(running))
          _ <- first.cancel
          _ <- second.cancel
        yield await(cancelled)
    }

  test("a server that answers early: a timeout ends the body of the request"):
    val begun, ended = CountDownLatch(1)
    val endless = (Stream.emit("abc".getBytes) ++
      Stream.exec(Task(begun.countDown()) >> Task.never)).onFinalize(Task(ended.countDown()))
    val early = (_: Request) => Task(await(begun)).as(Response.text("no", 413))
    calling(early, ClientSettings(responseTimeout = 500.millis)) { (client, address) =>
      client.send(Request.post(address, Body.stream(endless))).attempt >> Task(await(ended))
    }

  test("a server that stalls ends in a timeout, before the response and in its body"):
    val body = Body.stream(Stream("abc".getBytes) ++ Stream.never)
    val handler = (request: Request) =>
      if request.path == "/body" then Task.pure(Response(200, body = body)) else Task.never
    def message(settings: ClientSettings, path: String): String =
      calling(handler, settings) { (client, address) =>
        client.send(Request.get(address + path)).attempt.map {
          case Left(error: HttpTimeoutException) => error.getMessage.replace(address, "")
          case other => fail(s"$other")
        }
      }
    assertEquals(
      message(ClientSettings(responseTimeout = 100.millis), "/"),
      "GET /: no response within 100 milliseconds."
    )
    assertEquals(
      message(ClientSettings(idleTimeout = 100.millis), "/body"),
      "GET /body: no byte of the body within 100 milliseconds."
    )

  test("idempotent requests are sent again, after errors and temporary statuses"):
    val calls = AtomicInteger()
    val settings = ClientSettings(retry = Schedule.spaced(1.milli).times(3))
    def after(fails: Int)(request: Request): Task[Response] = Task.defer {
      if calls.incrementAndGet() <= fails then Task.pure(Response.text("later", 503))
      else request.body.text().map(Response.text(_))
    }
    def sent(fails: Int)(request: String => Request): (Int, Int) =
      calls.set(0)
      calling(after(fails), settings)((client, address) =>
        client.send(request(address)).map(response => (response.status, calls.get))
      )
    val put = (address: String) => Request.post(address, Body.text("x")).copy(method = "PUT")
    assertEquals(sent(fails = 3)(put), (200, 4))
    assertEquals(sent(fails = 9)(put), (503, 4))
    assertEquals(sent(fails = 1)(Request.post(_, Body.text("x"))), (503, 1))
    val keyed = (address: String) =>
      Request.post(address, Body.text("x")).copy(headers = Headers("Idempotency-Key" -> "7"))
    assertEquals(sent(fails = 1)(keyed), (200, 2))

  test("a body that is streamed is sent again if it is repeatable"):
    val bodies = java.util.concurrent.ConcurrentLinkedQueue[String]()
    val handler = (request: Request) =>
      request.body.text().map { text =>
        bodies.add(text): Unit
        if bodies.size == 1 then Response.text("later", 503) else Response.text("ok")
      }
    val settings = ClientSettings(retry = Schedule.spaced(1.milli).times(3))
    def sent(body: Body): (Int, List[String]) =
      bodies.clear()
      calling(handler, settings)((client, address) =>
        client.send(Request("PUT", java.net.URI.create(address), body = body)).map(_.status)
      ) -> bodies.toArray.toList.map(_.toString)
    val blocks = Stream("abc".getBytes)
    assertEquals(sent(Body.stream(blocks)), (503, List("abc")))
    assertEquals(sent(Body.stream(blocks).repeatable), (200, List("abc", "abc")))

  test("a redirect does not send what is left of a body"):
    val handler = (request: Request) =>
      if request.path == "/" then
        request.body.text().as(Response(307, Headers("Location" -> "/there")))
      else request.body.text().map(Response.text(_))
    def sent(body: Body): Either[Throwable, String] =
      calling(handler, ClientSettings(followRedirects = true))((client, address) =>
        client.send(Request.post(s"$address/", body)).flatMap(_.body.text()).attempt
      )
    val blocks = Stream("abc".getBytes)
    assertEquals(sent(Body.text("abc")), Right("abc"))
    assertEquals(sent(Body.stream(blocks).repeatable), Right("abc"))
    sent(Body.stream(blocks)) match
      case Left(error: IOException) =>
        val all = Iterator.iterate[Throwable](error)(_.getCause).takeWhile(_ != null)
        assert(all.exists(_.getMessage.contains("cannot be sent again")), error)
      case other => fail(s"$other")

  test("a server that is not there is tried again"):
    val port = serving(ok)(identity)
    val tries = AtomicInteger()
    val retry = Schedule.spaced(1.milli).times(2).whileInput[Throwable] { _ =>
      tries.incrementAndGet(): Unit
      true
    }
    val error = HttpClient
      .resource(ClientSettings(retry = retry))
      .use(_.send(Request.get(s"http://localhost:$port")))
      .attempt
      .runSync()
    assert(error.left.exists(_.isInstanceOf[IOException]), error)
    assertEquals(tries.get, 3)

  test("a server that cannot be reached is named, with the reason"):
    val port = serving(ok)(identity)
    def failing(address: String, follows: Boolean = false): Throwable =
      HttpClient
        .resource(ClientSettings(followRedirects = follows))
        .use(_.send(Request.get(address)).attempt)
        .runSync()
        .left
        .toOption
        .get
    val refused = failing(s"http://localhost:$port/a?secret=x")
    assertEquals(refused.getClass, classOf[ConnectException])
    assertEquals(
      refused.getMessage,
      s"HttpClient: cannot connect to localhost:$port: the connection was refused, or there is " +
        "no way to that host."
    )
    assert(refused.getCause != null)
    val unknown = failing("https://no.such.host.invalid/")
    assertEquals(unknown.getClass, classOf[ConnectException])
    assertEquals(
      unknown.getMessage,
      "HttpClient: cannot connect to no.such.host.invalid:443: the host has no known address."
    )
    val followed = failing(s"http://localhost:$port/", follows = true).getMessage
    val place = s"localhost:$port, or to an address to which it redirects"
    assert(followed.contains(place), followed)

  test("a client that was released says so"):
    val late = HttpClient.resource().use(Task.pure).flatMap(_.send(Request.get("http://h/")))
    val error = intercept[IOException](late.runSync())
    assertEquals(
      error.getMessage,
      "HttpClient: it has been released. Send requests only inside of the `use` of its resource."
    )
    assert(error.getCause != null)

  test("a response that is cut off is an error"):
    val blocks = Stream("abc".getBytes) ++ Stream.eval(Task.fail(HttpError(500, "broken")))
    for length <- List(None, Some(6L)) do
      val error = calling(_ => Task.pure(Response(200, body = Body.stream(blocks, length))))(
        (client, address) => client.send(Request.get(address)).attempt
      )
      assert(error.left.exists(_.isInstanceOf[IOException]), error)

  test("an error of a request's body is the cause of the failure"):
    val wrong = IllegalStateException("no more blocks")
    val error = calling(_.body.text().map(Response.text(_)))((client, address) =>
      client
        .send(Request.post(address, Body.stream(Stream("abc".getBytes) ++ Stream.fail(wrong))))
        .attempt
    )
    val causes =
      Iterator.iterate[Throwable](error.left.toOption.get)(_.getCause).takeWhile(_ != null)
    assert(causes.contains(wrong), error)

  test("redirects are followed if the settings say so"):
    val handler = (request: Request) =>
      if request.path == "/" then Task.pure(Response(302, Headers("Location" -> "/there")))
      else ok(request)
    for (follows, status) <- List(false -> 302, true -> 200) do
      val found = calling(handler, ClientSettings(followRedirects = follows))((client, address) =>
        client.send(Request.get(address + "/")).map(_.status)
      )
      assertEquals(found, status)

  test("nothing is decompressed by itself"):
    val packed = Stream("abc".getBytes).through(Bytes.gzip())
    val handler = (request: Request) =>
      assertEquals(request.headers.get("Accept-Encoding"), None)
      Task.pure(Response(200, Headers("Content-Encoding" -> "gzip"), Body.stream(packed)))
    calling(handler) { (client, address) =>
      client.stream(Request.get(address)).use { response =>
        for bytes <- response.body.stream.through(Bytes.gunzip).toList
        yield assertEquals(String(bytes.flatten.toArray), "abc")
      }
    }

  test("a body above the limit fails, and HEAD has none"):
    calling(ok, ClientSettings(bodyLimitBytes = 1)) { (client, address) =>
      for
        tooLarge <- client.send(Request.get(address)).attempt
        head <- client.send(Request.get(address).copy(method = "HEAD"))
      yield
        assert(tooLarge.left.exists(_.isInstanceOf[ResponseTooLarge]), tooLarge)
        assertEquals(head.headers.get("content-length"), Some("2"))
    }

  test("a handler whose own client is sent too much answers with 500"):
    calling(ok, ClientSettings(bodyLimitBytes = 1)) { (client, address) =>
      val request = Request.get(address)
      val sends = client.send(request)
      val reads = client.stream(request).use(_.body.bytes(limitBytes = 1)).as(Response(200))
      Task(
        for response <- List(sends, reads) do
          assertEquals(exchanging(_ => response)(_.get("/").status), 500)
      )
    }
