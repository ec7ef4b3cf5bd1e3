package weir.interop.tapir

import _root_.sttp.model.{Header, Part, StatusCode}
import _root_.sttp.tapir.*
import _root_.sttp.tapir.model.ServerRequest
import _root_.sttp.tapir.server.interceptor.metrics.MetricsRequestInterceptor
import _root_.sttp.tapir.server.interceptor.{RequestInterceptor, RequestResult}
import _root_.sttp.tapir.server.metrics.{EndpointMetric, Metric}
import java.nio.file.Files
import java.util.concurrent.{ConcurrentLinkedQueue, CountDownLatch}
import weir.http.{Body, HttpError, ServerSettings}
import weir.interop.sttp.WeirStreams
import weir.{Stream, Task}

/** Bodies in all their types, in both directions. */
class TapirBodiesSuite extends TapirSuite:
  private val blocks = Stream.fromIterable(List("pen ", "pine", "apple").map(_.getBytes))
  private val chunked = Body.stream(blocks)
  private val streamBody = streamBinaryBody(WeirStreams)(CodecFormat.OctetStream())

  private def posted(body: Body, headers: (String, String)*)(endpoints: Served*): Answer =
    asking(endpoints*)(_.send("POST", "/", body, headers*))

  test("text, by the charset of its type"):
    val served = endpoint.post.in(stringBody).out(stringBody).serverLogicSuccess[Task](Task.pure)
    assertEquals(posted(Body.text("é"))(served).text, "é")
    val latin = Body("é".getBytes("ISO-8859-1"))
    assertEquals(
      posted(latin, "Content-Type" -> "text/plain; charset=iso-8859-1")(served).text,
      "é"
    )
    assertEquals(posted(latin, "Content-Type" -> "text/plain; charset=klingon")(served).status, 415)

  test("bytes, a buffer and an input stream"):
    val served = List(
      endpoint.post.in(byteArrayBody).out(byteArrayBody).serverLogicSuccess[Task](Task.pure),
      endpoint.post.in(byteBufferBody).out(byteBufferBody).serverLogicSuccess[Task](Task.pure),
      endpoint.post.in(inputStreamBody).out(inputStreamBody).serverLogicSuccess[Task](Task.pure)
    )
    for one <- served do assertEquals(posted(chunked)(one).short, (200, "pen pineapple"))

  test("a form"):
    val served = endpoint.post
      .in(formBody[Map[String, String]])
      .out(stringBody)
      .serverLogicSuccess[Task](form => Task.pure(form.toList.sorted.mkString(" ")))
    val form = Body.text("b=2&a=%C3%A9+x")
    val answer = posted(form, "Content-Type" -> "application/x-www-form-urlencoded")(served)
    assertEquals(answer.text, "(a,é x) (b,2)")

  test("a stream in both directions, with a length if it is known"):
    val served = endpoint.post
      .in(header[Option[Long]]("X-Length"))
      .in(streamBody)
      .out(header[Option[Long]]("Content-Length"))
      .out(streamBody)
      .serverLogicSuccess[Task](Task.pure)
    val plain = posted(chunked)(served)
    assertEquals((plain.text, plain.headers.get("Content-Length")), ("pen pineapple", None))
    val known = posted(chunked, "X-Length" -> "13")(served)
    assertEquals((known.text, known.headers.get("Content-Length")), ("pen pineapple", Some("13")))

  test("a stream is read block by block: the answer begins before the request has ended"):
    val begun = CountDownLatch(1)
    val served = endpoint.post
      .in(streamBody)
      .out(streamBody)
      .serverLogicSuccess[Task](blocks => Task.pure(blocks.evalTap(_ => Task(begun.countDown()))))
    val slow = Body.stream(
      Stream.emit("first".getBytes) ++ Stream.exec(Task(await(begun))) ++
        Stream.emit(" second".getBytes)
    )
    assertEquals(posted(slow)(served).text, "first second")

  test("a limit of an endpoint, and that of the server, are 413"):
    val limited = endpoint.post
      .in("whole")
      .in(stringBody)
      .out(stringBody)
      .serverLogicSuccess[Task](Task.pure)
    val streamed = endpoint.post
      .in("stream")
      .in(streamBody)
      .out(stringBody)
      .serverLogicSuccess[Task](_.count.map(n => s"$n"))
    val body = Body.stream(Stream.emit(new Array[Byte](600)).repeatN(2))
    import _root_.sttp.tapir.server.model.EndpointExtensions.*
    val ten = endpoint.post
      .in("ten")
      .in(stringBody)
      .maxRequestBodyLength(10)
      .out(stringBody)
      .serverLogicSuccess[Task](Task.pure)
    val echoed = endpoint.post
      .in("echoed")
      .in(streamBody)
      .maxRequestBodyLength(1000)
      .out(streamBody)
      .serverLogicSuccess[Task](blocks => Task.pure(Stream.exec(blocks.take(1).drain) ++ blocks))
    askingBy(limited, streamed, ten)(settings = ServerSettings(bodyLimitBytes = 1000)) { ask =>
      assertEquals(ask.send("POST", "/whole", body).status, 413)
      assertEquals(ask.send("POST", "/stream", body).status, 413)
      assertEquals(ask.post("/ten", "12345678901").status, 413)
      assertEquals(ask.post("/ten", "1234567890").short, (200, "1234567890"))
    }
    asking(echoed)(ask => assertEquals(ask.send("POST", "/echoed", body).status, 413))

  // ---- files ----

  test("a file, which is deleted after the response that it is"):
    val seen = ConcurrentLinkedQueue[TapirFile]()
    val served = endpoint.post
      .in(fileBody)
      .out(fileBody)
      .serverLogicSuccess[Task](file => Task { seen.add(file): Unit; file })
    val answer = posted(chunked)(served)
    assertEquals((answer.text, answer.headers.get("Content-Length")), ("pen pineapple", Some("13")))
    eventually("the file is deleted")(!seen.peek.exists)

  test("the file of a request that is cancelled is deleted"):
    val made = ConcurrentLinkedQueue[TapirFile]()
    val begun = CountDownLatch(1)
    val served = endpoint.post
      .in(fileBody)
      .serverLogicSuccess[Task](file =>
        Task { made.add(file): Unit; begun.countDown() }.andThen(Task.never)
      )
    asking(served) { ask =>
      val socket = java.net.Socket("localhost", ask.at)
      val request = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\nhi"
      socket.getOutputStream.write(request.getBytes)
      await(begun)
      assert(made.peek.exists)
      socket.close()
      eventually("the file is deleted")(!made.peek.exists)
    }

  private case class Upload(file: TapirFile, text: String)
  private given Schema[Upload] = Schema.derived

  test("the file of a part is deleted if a later part cannot be read"):
    val made = ConcurrentLinkedQueue[TapirFile]()
    val options = TapirOptions.customiseInterceptors.serverLog(None).options
    val noted = options.copy(createFile =
      request =>
        options.createFile(request).map { file =>
          made.add(file): Unit
          file
        }
    )
    val served = endpoint.post.in(multipartBody[Upload]).serverLogicSuccess[Task](_ => Task.unit)
    val body = part("file", "x") +
      part("text", "1", "\r\nContent-Type: text/plain; charset=klingon") + "--AAB--\r\n"
    askingBy(served)(noted) { ask =>
      assertEquals(ask.send("POST", "/", Body.text(body), boundary).status, 415)
    }
    assertEquals((made.size, made.peek.exists), (1, false))

  private final class Opened extends java.io.ByteArrayInputStream("abc".getBytes):
    @volatile var isClosed = false
    override def close(): Unit = isClosed = true

  test("an input stream that is not sent is closed"):
    val cases = List[(String, Int, String)](
      ("HEAD", 200, "fine"),
      ("GET", 304, "fine"),
      ("GET", 199, "fine"),
      ("GET", 200, "\u0105")
    )
    val quiet = TapirOptions.customiseInterceptors.serverLog(None).options
    for (method, status, field) <- cases do
      val opened = Opened()
      val served = endpoint
        .out(statusCode)
        .out(header[String]("X-Field"))
        .out(inputStreamBody)
        .serverLogicSuccess[Task](_ =>
          Task.pure((StatusCode(status), field, opened: java.io.InputStream))
        )
      askingBy(served)(quiet)(_.send(method, "/")): Unit
      assert(opened.isClosed, (method, status, field))

  test("an input stream is closed if an interceptor fails, or drops the response"):
    def resultOf(result: Task[RequestResult[Nothing]]) = TapirOptions.customiseInterceptors
      .prependInterceptor(
        RequestInterceptor.transformResult[Task](
          new RequestInterceptor.RequestResultTransform[Task]:
            def apply[B](request: ServerRequest, dropped: RequestResult[B]) = result
        )
      )
      .options
    val cases = List(
      418 -> Task.fail(HttpError(418, "expected")),
      404 -> Task.pure(RequestResult.Failure(Nil))
    )
    for (status, result) <- cases do
      val opened = Opened()
      val served =
        endpoint.out(inputStreamBody).serverLogicSuccess[Task](_ => Task.pure(opened))
      assertEquals(askingBy(served)(resultOf(result))(_.get("/")).status, status)
      assert(opened.isClosed, status)

  test("tapir hears of the end of a stream that is not sent, once"):
    val ended = java.util.concurrent.atomic.AtomicInteger()
    val metric = Metric[Task, Unit](
      (),
      (_, _, _) =>
        Task.pure(
          EndpointMetric[Task]().onResponseBody((_, _) => Task(ended.incrementAndGet()).void)
        )
    )
    val options = TapirOptions.customiseInterceptors
      .metricsInterceptor(MetricsRequestInterceptor[Task](List(metric), Nil))
      .options
    val served = endpoint.out(streamBody).serverLogicSuccess[Task](_ => Task.pure(blocks))
    for method <- List("HEAD", "GET") do
      ended.set(0)
      askingBy(served)(options)(_.send(method, "/")): Unit
      assertEquals(ended.get, 1, method)

  test("the length that is named is sent, with an input stream and to HEAD"):
    val stream = endpoint.get
      .out(header[Long]("Content-Length"))
      .out(inputStreamBody)
      .serverLogicSuccess[Task](_ => Task.pure((3L, Opened(): java.io.InputStream)))
    val head =
      endpoint.head.out(header[Long]("Content-Length")).serverLogicSuccess[Task](_ => Task(1234L))
    asking(stream, head) { ask =>
      assertEquals(ask.get("/").headers.get("Content-Length"), Some("3"))
      assertEquals(ask.send("HEAD", "/").headers.get("Content-Length"), Some("1234"))
    }

  test("a part of a file, and of an input stream"):
    val path = Files.createTempFile("weir", "tapir")
    Files.writeString(path, "0123456789"): Unit
    val range = Some(RangeValue(Some(2), Some(5), 10))
    val ofFile = endpoint.get
      .in("file")
      .out(fileRangeBody)
      .serverLogicSuccess[Task](_ => Task.pure(FileRange(path.toFile, range)))
    val ofStream = endpoint.get
      .in("stream")
      .out(inputStreamRangeBody)
      .serverLogicSuccess[Task](_ =>
        Task.pure(InputStreamRange(() => Files.newInputStream(path), range))
      )
    asking(ofFile, ofStream) { ask =>
      for name <- List("file", "stream") do assertEquals(ask.get(s"/$name").text, "2345")
    }
    Files.delete(path)

  // ---- parts ----

  private val parts = endpoint.post.in(multipartBody)
  private val boundary = "Content-Type" -> "multipart/form-data; boundary=AAB"

  private def part(name: String, content: String, more: String = "") =
    s"--AAB\r\nContent-Disposition: form-data; name=\"$name\"$more\r\n\r\n$content\r\n"

  test("parts, with their names, files and fields, and a boundary within one"):
    val served = parts
      .out(stringBody)
      .serverLogicSuccess[Task](parts =>
        Task.pure(parts.map(p => s"${p.name} ${p.fileName} ${String(p.body)}").mkString("|"))
      )
    val body =
      part("a", "1\r\n--AA") + part("b", "2", "; filename=\"ą.txt\"\r\nX-In: c") + "--AAB--\r\n"
    assertEquals(
      posted(Body.text(body), boundary)(served).short,
      (200, "a None 1\r\n--AA|b Some(ą.txt) 2")
    )

  test("parts that are malformed, truncated or without a boundary are 400"):
    val served =
      parts.out(stringBody).serverLogicSuccess[Task](parts => Task.pure(s"${parts.size}"))
    val other = "--ABC\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--ABC--\r\n"
    for text <- List(part("a", "1"), other) do
      assertEquals(posted(Body.text(text), boundary)(served).status, 400, text)
    val bare = "Content-Type" -> "multipart/form-data"
    assertEquals(posted(Body.text(part("a", "1")), bare)(served).status, 400)

  test("no part of an answer can end its own field"):
    val quiet = TapirOptions.customiseInterceptors.serverLog(None).options
    val evil = List(
      Part("a\r\nX-Evil: 1", "1".getBytes),
      Part("a", "1".getBytes).fileName("a\r\nX-Evil: 1"),
      Part("a", "1".getBytes).header(Header("X-Out", "a\nX-Evil: 1")),
      Part("a", "1".getBytes).header(Header("X-Out: a\r\nX-Evil", "1"))
    )
    for part <- evil do
      val served = endpoint.get
        .out(multipartBody)
        .serverLogicSuccess[Task](_ => Task.pure(Seq(part)))
      val answer = askingBy(served)(quiet)(_.get("/"))
      assertEquals((answer.status, answer.text.contains("X-Evil")), (500, false))
    val quoted = endpoint.get
      .out(multipartBody)
      .serverLogicSuccess[Task](_ => Task.pure(Seq(Part("a\"; filename=\"b", "1".getBytes))))
    val text = asking(quoted)(_.get("/")).text
    assert(text.contains("name=\"a%22; filename=%22b\""), text)

  test("parts as an answer, whose type has the boundary"):
    val served = endpoint.post
      .out(multipartBody)
      .serverLogicSuccess[Task](_ =>
        Task.pure(
          Seq(
            Part("a", "1".getBytes).fileName("a.txt").header(Header("X-Out", "b")),
            Part("b", "22".getBytes)
          )
        )
      )
    val answer = posted(Body.empty)(served)
    val s"multipart/form-data; boundary=$bound" = answer.headers.get("Content-Type").get: @unchecked
    val sent = Multipart
      .parse(s"multipart/form-data; boundary=$bound", Stream.emit(answer.text.getBytes))
      .runSync()
    assertEquals(
      sent.map(p => (p.name, p.fileName, p.header("X-Out"), String(p.body))),
      List(("a", Some("a.txt"), Some("b"), "1"), ("b", None, None, "22"))
    )
