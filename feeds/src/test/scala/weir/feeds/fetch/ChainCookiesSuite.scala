package weir.feeds.fetch

import java.time.Instant

import munit.FunSuite

import weir.feeds.input.FeedUrl

class ChainCookiesSuite extends FunSuite:
  private val now = Instant.parse("2026-01-01T12:00:00Z")

  private def url(text: String) = FeedUrl.parse(text).fold(fail(_), identity)

  private def set(from: String, lines: String*) = ChainCookies.none.set(url(from), lines, now)

  private def sent(from: String, line: String)(to: String) = set(from, line).header(url(to))

  test("a cookie without attributes goes to the same host and folder, over http and https"):
    val a = sent("http://a.example/x/y", "k=v=w")
    assertEquals(a("http://a.example/x/z"), Some("k=v=w"))
    assertEquals(a("https://a.example:444/x/z/1"), Some("k=v=w"))
    for other <- List(
        "http://b.a.example/x/z",
        "http://example/x/z",
        "http://a.example/",
        "http://a.example/xy"
      )
    do assertEquals(a(other), None, other)

  test("a cookie with a domain goes to its hosts"):
    val a = sent("http://www.a.example/", "k=v; Domain=.A.example; HttpOnly; SameSite=Lax")
    assertEquals(a("http://a.example/"), Some("k=v"))
    assertEquals(a("http://x.y.a.example/"), Some("k=v"))
    assertEquals(a("http://ba.example/"), None)

  test("a cookie for the domain of others is not taken"):
    for domain <- List("b.example", "example", "x.www.a.example", "www.a.example.") do
      assertEquals(set("http://www.a.example/", s"k=v; Domain=$domain"), ChainCookies.none, domain)
    assertEquals(set("http://1.2.3.4/", "k=v; Domain=3.4"), ChainCookies.none)

  test("a secure cookie goes over https only"):
    val a = sent("https://a.example/", "k=v; Secure; Path=/")
    assertEquals(a("https://a.example/"), Some("k=v"))
    assertEquals(a("http://a.example/"), None)

  test("a path is a whole folder"):
    val a = sent("http://a.example/", "k=v; Path=/x")
    assertEquals(a("http://a.example/x"), Some("k=v"))
    assertEquals(a("http://a.example/x/y"), Some("k=v"))
    assertEquals(a("http://a.example/xy"), None)

  test("several cookies go together, the longest path first, and the last value counts"):
    val jar = set("http://a.example/x/y", "a=1; Path=/", "b=2", "a=3; Path=/")
    assertEquals(jar.header(url("http://a.example/x/")), Some("b=2; a=3"))

  test("a cookie that is over is forgotten"):
    for end <- List("Max-Age=0", "Max-Age=-1", "Expires=Thu, 01-Jan-1970 00:00:00 GMT") do
      val jar = set("http://a.example/", "k=v", s"k=; $end")
      assertEquals(jar.header(url("http://a.example/")), None, end)
    for end <- List("Max-Age=9", "Max-Age=9; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "Expires=soon")
    do assertEquals(sent("http://a.example/", s"k=v; $end")("http://a.example/"), Some("k=v"), end)

  test("what is no cookie is left out, and a jar does not grow for ever"):
    for line <- List("", ";", "k", "=v", " =v", "k=" + "v" * 5000, "k=a\u0001b") do
      assertEquals(set("http://a.example/", line), ChainCookies.none, line)
    assertEquals(set("http://a.example/", (1 to 99).map(n => s"k$n=v")*).cookies.size, 50)

  test("a host with an underscore has cookies of its own"):
    val a = sent("http://a_b.example/", "k=v")
    assertEquals(a("http://a_b.example/"), Some("k=v"))
    assertEquals(a("http://c_d.example/"), None)
