package weir.http

import java.io.IOException
import weir.{Stream, Task}

class HttpServerSuite extends HttpSuite:
  test("a handler answers with status, header fields and body"):
    exchanging(_ => Task.pure(Response.text("hello", 201).withHeader("X-A", "b"))) { connection =>
      val response = connection.get("/")
      assertEquals(response.status, 201)
      assertEquals(response.body, "hello")
      assertEquals(response.headers("x-a"), "b")
      assertEquals(response.headers("content-length"), "5")
      assert(response.headers.contains("date"), response)
      assert(!response.headers.contains("server"), response)
    }

  test("a handler sees method, path, query, header fields and body"):
    val shown = (request: Request) =>
      request.body.text().map { body =>
        Response.text(
          s"${request.method} ${request.path} ${request.segments} ${request.query} " +
            s"${request.headers.all("x-a")} $body ${request.remote.isDefined}"
        )
      }
    exchanging(shown) { connection =>
      connection.send(
        "POST /a%20b/c?d=e%26f&g HTTP/1.1\nHost: h\nX-A: 1\nx-a: 2\nContent-Length: 3\n\nxyz"
      )
      assertEquals(
        connection.response().body,
        "POST /a%20b/c List(a b, c) Vector((d,e&f), (g,)) Vector(1, 2) xyz true"
      )
    }

  test("a connection serves one request after the other"):
    exchanging(request => Task.pure(Response.text(request.path))) { connection =>
      for number <- 1 to 20 do assertEquals(connection.get(s"/$number").body, s"/$number")
    }

  test("requests that are sent at once are answered in their order"):
    exchanging(request => Task.cede >> Task.pure(Response.text(request.path))) { connection =>
      connection.send((1 to 9).map(n => s"GET /$n HTTP/1.1\nHost: h\n\n").mkString)
      assertEquals(
        (1 to 9).toList.map(_ => connection.response().body),
        (1 to 9).toList.map("/" + _)
      )
    }

  test("a stream of blocks is sent in chunks, or with its length if that is known"):
    val blocks = Stream("ab".getBytes, Array.emptyByteArray, "c".getBytes)
    def handler(request: Request) =
      val length = Option.when(request.path == "/known")(3L)
      Task.pure(Response(200, body = Body.stream(blocks, length)))
    exchanging(handler) { connection =>
      val chunked = connection.get("/")
      assertEquals(chunked.headers.get("transfer-encoding"), Some("chunked"))
      assertEquals(chunked.body, "abc")
      val known = connection.get("/known")
      assertEquals(known.headers.get("content-length"), Some("3"))
      assertEquals(known.body, "abc")
    }

  test("a block of any size arrives as it was"):
    val block = Array.tabulate(200_000)(n => (n % 101).toByte)
    for body <- List(Body(block), Body.stream(Stream(block), Some(block.length.toLong))) do
      exchanging(_ => Task.pure(Response(200, body = body))) { connection =>
        assertEquals(connection.get("/").body, String(block, "ISO-8859-1"))
      }

  test("the answer to HEAD has the header fields of GET, and its stream is not run"):
    var isRun = false
    val blocks = Stream.exec(Task { isRun = true }) ++ Stream("abc".getBytes)
    exchanging(_ => Task.pure(Response(200, body = Body.stream(blocks, Some(3))))) { connection =>
      connection.send("HEAD / HTTP/1.1\nHost: h\n\n")
      assertEquals(connection.response(toHead = true).headers("content-length"), "3")
      assert(!isRun)
      assertEquals(connection.get("/").body, "abc")
    }

  test("answers without a body have none"):
    exchanging(r => Task.pure(Response(r.path.drop(1).toInt, body = Body.text("x")))) {
      connection =>
        assertEquals(connection.get("/204").status, 204)
        assertEquals(connection.get("/304").status, 304)
        assertEquals(connection.get("/200").body, "x")
    }

  test("a client that expects 100 is told to go on once the handler reads"):
    val handler = (request: Request) =>
      if request.path == "/refuses" then Task.pure(Response.text("no", 403))
      else request.body.text().map(Response.text(_))
    serving(handler) { port =>
      connected(port) { connection =>
        connection.send("PUT / HTTP/1.1\nHost: h\nContent-Length: 3\nExpect: 100-continue\n\n")
        assertEquals(connection.head()._1, 100)
        connection.send("abc")
        assertEquals(connection.response().body, "abc")
        assertEquals(connection.get("/refuses").status, 403)
      }
      connected(port) { connection =>
        connection.send(
          "PUT /refuses HTTP/1.1\nHost: h\nContent-Length: 3\nExpect: 100-continue\n\n"
        )
        assertEquals(connection.response().status, 403)
        assert(connection.ends())
      }
    }

  test("health and readiness need no handler"):
    exchanging(_ => Task.never) { connection =>
      assertEquals(connection.get("/health").status, 200)
      assertEquals(connection.get("/ready").status, 200)
    }

  test("an address that is none is refused"):
    exchanging(ok) { connection =>
      assertEquals(connection.get("/a|b").status, 400)
    }

  test("a path has no parts that lead up, however they are written"):
    serving(ok) { port =>
      for path <- List(
          "/a/../b",
          "/a/.",
          "/./a",
          "/%2e%2e/b",
          "/a/..;/b",
          "/a/%2E./b",
          "/a/../../b",
          "/a%2F../b",
          "/a%2F%2E%2E%2Fb",
          "/a%5c..%5cb",
          "/a%00b",
          "/a%0Ab"
        )
      do assertEquals(connected(port)(_.get(path).status), 400, path)
      assertEquals(connected(port)(_.get("/a..b/.c/").status), 200)
    }

  test("a part of a path may have any sign, escaped, and may be empty"):
    exchanging(request => Task.pure(Response.text(request.segments.mkString("|")))) { connection =>
      val paths = List(
        "/a%2Fb" -> "a/b",
        "/50%25" -> "50%",
        "/a%5Cb" -> "a\\b",
        "/a//b" -> "a||b",
        "//a" -> "|a",
        "/a%3Fb%23%3B" -> "a?b#;",
        "/a%252E%252E" -> "a%2E%2E"
      )
      for (path, parts) <- paths do assertEquals(connection.get(path).body, parts, path)
    }

  test("CONNECT and TRACE do not reach the handler"):
    serving(ok) { port =>
      for start <- List("TRACE /", "CONNECT a:80") do
        connected(port) { connection =>
          connection.send(s"$start HTTP/1.1\nHost: a:80\n\n")
          assertEquals(connection.response().status, 501)
        }
    }

  test("a port in use is named"):
    serving(ok) { port =>
      val error = intercept[IOException](HttpServer.serve(port)(ok).use(_ => Task.unit).runSync())
      val message = error.getMessage
      val start = s"HttpServer.serve: port $port of localhost cannot be used: Address "
      assert(message.startsWith(s"${start}already in use"), message)
    }

  test("a host that is not one of this machine is named"):
    for (host, why) <- List(
        "no.such.host.invalid" -> "the host no.such.host.invalid cannot be resolved",
        "192.0.2.1" -> "192.0.2.1 is not an address of this machine"
      )
    do
      val served = HttpServer.serve(0, ServerSettings(host = host))(ok).use(_ => Task.unit)
      val error = intercept[IOException](served.runSync())
      assert(error.getMessage.startsWith(s"HttpServer.serve: $why."), error.getMessage)
      assert(!error.getMessage.contains("port"), error.getMessage)
