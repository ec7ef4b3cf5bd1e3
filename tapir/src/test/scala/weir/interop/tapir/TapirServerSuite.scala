package weir.interop.tapir

import _root_.sttp.model.StatusCode
import _root_.sttp.model.sse.ServerSentEvent
import _root_.sttp.tapir.*
import _root_.sttp.tapir.model.UsernamePassword as Credentials
import scala.concurrent.duration.DurationInt
import weir.http.{HttpClient, HttpError, HttpServer, Request, Response}
import weir.interop.sttp.WeirServerSentEvents
import weir.{Deferred, RunTwice, Stream, Task}

/** Which endpoint answers, with what, and what is said of a request that fits none. */
class TapirServerSuite extends TapirSuite, RunTwice:
  private val hello = endpoint.get.in("hello" / path[String]("name")).out(stringBody)
  private val helloServed = hello.serverLogicSuccess[Task](name => Task.pure(s"hello, $name"))
  private val number = endpoint.get
    .in("number" / path[Int])
    .out(stringBody)
    .serverLogicSuccess[Task](n => Task.pure(s"${n + 1}"))
  private val echo = endpoint.post
    .in("echo")
    .in(stringBody)
    .out(stringBody)
    .serverLogicSuccess[Task](Task.pure)

  private val root = endpoint.get.out(stringBody).serverLogicSuccess[Task](_ => Task.pure("root"))

  row("TapirServer.handler")((200, "hello, ann"))(Task.defer {
    val handler = TapirServer.handler(List(helloServed))
    handler(Request.get("http://localhost/hello/ann"))
      .flatMap(response => response.body.text().map((response.status, _)))
  })

  test("a path, decoded, and its slash at the end"):
    asking(helloServed, number, echo, root) { ask =>
      assertEquals(ask.get("/hello/ann%20%C3%A9+").short, (200, "hello, ann é+"))
      assertEquals(ask.get("/hello/ann/").short, (200, "hello, ann"))
      assertEquals(ask.get("/hello/a%2Fb%5C%25").short, (200, "hello, a/b\\%"))
      assertEquals(ask.get("/number/41").short, (200, "42"))
      assertEquals(ask.get("/").short, (200, "root"))
    }

  test("404 where no path fits, 405 where the method does not, 400 where an input is malformed"):
    asking(helloServed, number, echo) { ask =>
      assertEquals(ask.get("/nothing").short, (404, "Not Found"))
      assertEquals(ask.get("/hello").status, 404)
      assertEquals(ask.get("/hello/a/b").status, 404)
      assertEquals(ask.post("/hello/ann", "").short, (405, "Method Not Allowed"))
      assertEquals(ask.get("/number/x").status, 400)
    }

  test("405 where there is one endpoint"):
    asking(helloServed)(ask => assertEquals(ask.post("/hello/ann", "").status, 405))

  test("what fits no endpoint is another handler's"):
    val handler = TapirServer.handler(
      List(helloServed),
      otherwise = request => Task.pure(Response.text(s"other ${request.path}"))
    )
    val text = HttpServer.serve(0)(handler).use { server =>
      HttpClient
        .resource()
        .use(_.send(Request.get(s"http://localhost:${server.port}/x")).flatMap(_.body.text()))
    }
    assertEquals(text.runSync(), "other /x")

  test("values of the query: one, none, many, with signs that are escaped"):
    val queried = endpoint.get
      .in("q")
      .in(query[String]("one"))
      .in(query[Option[Int]]("none"))
      .in(query[List[Int]]("many"))
      .out(stringBody)
      .serverLogicSuccess[Task]((one, none, many) => Task.pure(s"$one $none $many"))
    asking(queried) { ask =>
      assertEquals(ask.get("/q?one=red%20a+b%26&many=1&many=2").text, "red a b& None List(1, 2)")
      assertEquals(ask.get("/q?one=&none=3").text, " Some(3) List()")
      assertEquals(ask.get("/q").status, 400)
      assertEquals(ask.get("/q?one=a&none=x").status, 400)
    }

  test("all values of the query, and the rest of the path"):
    val all = endpoint.get
      .in("all" / paths)
      .in(queryParams)
      .out(stringBody)
      .serverLogicSuccess[Task]((rest, query) => Task.pure(s"${rest.mkString("|")} ${query.toSeq}"))
    asking(all) { ask =>
      assertEquals(ask.get("/all/a/b%20c?x=1&y=2").text, "a|b c List((x,1), (y,2))")
    }

  test("header fields in both directions, those of a name more than once"):
    val headed = endpoint.get
      .in("head")
      .in(header[List[String]]("X-In"))
      .out(header[List[String]]("X-Out"))
      .out(statusCode)
      .serverLogicSuccess[Task](values => Task.pure((values.map(_ + "!"), StatusCode.Accepted)))
    asking(headed) { ask =>
      val answer = ask.get("/head", "x-in" -> "a", "X-In" -> "b")
      assertEquals((answer.status, answer.headers.all("X-Out")), (202, Vector("a!", "b!")))
    }

  test("cookies"):
    val cookied = endpoint.get
      .in("c")
      .in(cookie[String]("in"))
      .out(setCookie("out"))
      .serverLogicSuccess[Task](value =>
        Task.pure(_root_.sttp.model.headers.CookieValueWithMeta.unsafeApply(value + "!"))
      )
    asking(cookied) { ask =>
      assertEquals(ask.get("/c", "Cookie" -> "a=b; in=1").headers.get("Set-Cookie"), Some("out=1!"))
      assertEquals(ask.get("/c").status, 400)
    }

  test("outputs of errors, with a status or 400"):
    val failing = endpoint.get
      .in("f" / path[Int])
      .errorOut(
        oneOf[String](
          oneOfVariantExactMatcher(StatusCode.NotFound, stringBody)("none"),
          oneOfDefaultVariant(stringBody)
        )
      )
      .serverLogic[Task](n => Task.pure(Left(if n == 0 then "none" else "bad")))
    asking(failing) { ask =>
      assertEquals(ask.get("/f/0").short, (404, "none"))
      assertEquals(ask.get("/f/1").short, (400, "bad"))
    }

  test("a task that fails is answered with 500 and not told; an HttpError with its own"):
    val broken = endpoint.get
      .in("broken" / path[Int])
      .out(stringBody)
      .serverLogicSuccess[Task] {
        case 0 => Task.fail(RuntimeException("a secret"))
        case 1 => throw RuntimeException("a secret")
        case status => Task.fail(HttpError(status, "It is a teapot."))
      }
    // Not in the log of the tests.
    val quiet = TapirOptions.customiseInterceptors.serverLog(None).options
    askingBy(broken)(quiet) { ask =>
      assertEquals(ask.get("/broken/0").short, (500, "Internal server error"))
      assertEquals(ask.get("/broken/1").short, (500, "Internal server error"))
      assertEquals(ask.get("/broken/418").short, (418, "It is a teapot."))
    }

  test("logic of security comes first, and before the body is read"):
    val secured = endpoint.post
      .in("secured")
      .securityIn(auth.basic[Credentials]())
      .errorOut(statusCode)
      .in(stringBody)
      .out(stringBody)
      .serverSecurityLogic[String, Task](user =>
        Task.pure(Either.cond(user.username == "ann", user.username, StatusCode.Forbidden))
      )
      .serverLogicSuccess(user => text => Task.pure(s"$user: $text"))
    def basic(user: String) =
      val encoded = java.util.Base64.getEncoder.encodeToString(s"$user:secret".getBytes)
      "Authorization" -> s"Basic $encoded"
    asking(secured) { ask =>
      assertEquals(ask.post("/secured", "hi", basic("ann")).short, (200, "ann: hi"))
      assertEquals(ask.post("/secured", "hi", basic("bob")).status, 403)
      val missing = ask.post("/secured", "hi")
      assertEquals(missing.status, 401)
      assert(missing.headers.get("WWW-Authenticate").exists(_.startsWith("Basic")))
    }

  test("a value that is not valid is refused"):
    val valid = endpoint.get
      .in("valid")
      .in(query[Int]("n").validate(Validator.min(3)))
      .out(stringBody)
      .serverLogicSuccess[Task](n => Task.pure(s"$n"))
    asking(valid) { ask =>
      assertEquals(ask.get("/valid?n=3").short, (200, "3"))
      assertEquals(ask.get("/valid?n=2").status, 400)
    }

  test("a type that the client does not accept is 406"):
    val typed = endpoint.get
      .in("typed")
      .out(oneOfBody(stringBody, htmlBodyUtf8))
      .serverLogicSuccess[Task](_ => Task.pure("text"))
    asking(typed) { ask =>
      assertEquals(
        ask.get("/typed", "Accept" -> "text/html").headers.get("Content-Type"),
        Some("text/html; charset=UTF-8")
      )
      assertEquals(ask.get("/typed", "Accept" -> "image/png").status, 406)
    }

  test("HEAD, a status without a body, and nothing at all"):
    val head =
      endpoint.head.in("h").out(header("X-Size", "7")).serverLogicSuccess[Task](_ => Task.unit)
    val none = endpoint.delete
      .in("h")
      .out(statusCode(StatusCode.NoContent))
      .serverLogicSuccess[Task](_ => Task.unit)
    asking(head, none) { ask =>
      assertEquals(ask.send("HEAD", "/h").headers.get("X-Size"), Some("7"))
      assertEquals(ask.send("DELETE", "/h").short, (204, ""))
    }

  test("a field that would end another is not sent"):
    val injecting = endpoint.get
      .in("inject")
      .out(header[String]("X-Out"))
      .serverLogicSuccess[Task](_ => Task.pure("a\r\nX-Evil: b"))
    val answer = asking(injecting)(_.get("/inject"))
    assertEquals((answer.status, answer.headers.get("X-Evil")), (500, None))

  test("a client that goes cancels the endpoint's task"):
    val begun, cancelled = java.util.concurrent.CountDownLatch(1)
    val waiting = endpoint.get
      .in("wait")
      .serverLogicSuccess[Task](_ =>
        Task(begun.countDown()).andThen(Task.never).onCancel(Task(cancelled.countDown()))
      )
    asking(waiting) { ask =>
      val socket = java.net.Socket("localhost", ask.at)
      socket.getOutputStream.write("GET /wait HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes)
      await(begun)
      socket.close()
      await(cancelled)
    }

  test("events are sent one by one, and the header fields before the first one"):
    val go = Deferred.unsafe[Unit]
    val event = ServerSentEvent(Some("a\nb"), Some("kind"), Some("7"), Some(10))
    val events = Stream.eval(go.get).as(event) ++ Stream.exec(Task.never)
    val served =
      endpoint.get.out(serverSentEventsBody).serverLogicSuccess[Task](_ => Task.pure(events))
    val read = HttpServer.serve(0)(TapirServer.handler(List(served))).use { server =>
      HttpClient.resource().use { client =>
        client.stream(Request.get(s"http://localhost:${server.port}/")).use { response =>
          val first = response.body.stream.through(WeirServerSentEvents.parse).take(1).toList
          (go.complete(()) >> first).map((response.headers.get("Content-Type"), _))
        }
      }
    }
    assertEquals(
      read.timeout(10.seconds).runSync(),
      (Some("text/event-stream; charset=UTF-8"), List(event))
    )

  test("events are not cached or kept back by proxies, unless their endpoint says otherwise"):
    val events = endpoint.get.out(serverSentEventsBody)
    val none = Stream.empty
    val usual = events.in("usual").serverLogicSuccess[Task](_ => Task.pure(none))
    val own = events
      .in("own")
      .out(header("cache-control", "private"))
      .serverLogicSuccess[Task](_ => Task.pure(none))
    val handler = TapirServer.handler(List(usual, own, helloServed))
    def fields(path: String) =
      val headers = handler(Request.get(s"http://localhost$path")).runSync().headers
      (headers.all("Cache-Control"), headers.all("X-Accel-Buffering"))
    assertEquals(fields("/usual"), (Vector("no-store"), Vector("no")))
    assertEquals(fields("/own"), (Vector("private"), Vector("no")))
    assertEquals(fields("/hello/ann"), (Vector.empty, Vector.empty))
