package weir.http

import java.net.URI
import weir.Stream

class RequestSuite extends HttpSuite:
  test("the path is split before it is decoded"):
    def segments(path: String) = Request("GET", URI.create(s"http://h$path")).segments
    assertEquals(segments(""), Nil)
    assertEquals(segments("/"), Nil)
    assertEquals(segments("/a%2Fb/c+d/"), List("a/b", "c+d", ""))

  test("the query is decoded"):
    val request = Request.get("http://h/?a=b+c&&d=%C3%BC&a=2&e")
    assertEquals(request.query, Vector("a" -> "b c", "d" -> "ü", "a" -> "2", "e" -> ""))
    assertEquals(request.parameter("a"), Some("b c"))
    assertEquals(request.parameter("f"), None)

  test("a body of known length is refused before it is read"):
    val body = Body.stream(Stream.fail(IllegalStateException("read")), Some(11))
    assertEquals(intercept[BodyTooLarge](body.bytes(10).runSync()).limitBytes, 10L)
    assertEquals(Body.text("äb").text().runSync(), "äb")
    intercept[BodyTooLarge](Body.text("abc").bytes(2).runSync()): Unit

  test("settings and statuses that make no sense are refused"):
    intercept[IllegalArgumentException](Response(99)): Unit
    intercept[IllegalArgumentException](HttpError(200, "")): Unit
    intercept[IllegalArgumentException](ServerSettings(requestLimit = 0)): Unit
    intercept[IllegalArgumentException](HttpServer.serve(70000)(ok)): Unit
    for wrong <- List(
        () => ServerSettings(readyPath = Some("ready")),
        () => ServerSettings(healthPath = Some(""))
      )
    do
      val error = intercept[IllegalArgumentException](wrong())
      assert(error.getMessage.contains("must begin with /"), error)
