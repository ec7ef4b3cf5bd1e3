package weir.http.server

import java.net.URI
import org.eclipse.jetty.http.HttpURI
import weir.WeirSuite

class RequestUrisSuite extends WeirSuite:
  private val targets = List(
    "/",
    "/a/b/",
    "/a%20b?c=d&e=%2F",
    "/a;x=1/b?",
    "/a?b=http://c//d/../e",
    "/a//b",
    "//a/b",
    "/.hidden",
    "/a/../b",
    "/a/./b",
    "/a?b#c",
    "/a+b,c:d@e=f!g$h'i(j)k"
  )

  test("addresses are those that their texts have, whatever host came before"):
    val uris = RequestUris()
    for
      target <- targets
      host <- List("http://h:8080", "https://h", "http://h", "http://[::1]:80")
    do
      val uri = HttpURI.from(s"$host$target")
      val (made, expected) = (uris.of(uri), URI.create(uri.asString))
      assertEquals(
        (made.toString, made, made.getHost, made.getPort, made.getRawPath, made.getRawQuery),
        (
          expected.toString,
          expected,
          expected.getHost,
          expected.getPort,
          expected.getRawPath,
          expected.getRawQuery
        )
      )

  test("the address of a server as a whole has no path"):
    val uri = RequestUris().of(HttpURI.build("*").scheme("http").authority("h", 81))
    assertEquals((uri.toString, uri.getHost, uri.getRawPath), ("http://h:81", "h", ""))

  test("what is no URI is refused"):
    val uris = RequestUris()
    for target <- List("/a|b", "/a?b={c}", "/%zz", "/a\"b") do
      intercept[IllegalArgumentException](uris.of(HttpURI.from(s"http://h$target"))): Unit
