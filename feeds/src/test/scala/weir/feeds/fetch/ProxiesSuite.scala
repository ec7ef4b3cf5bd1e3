package weir.feeds.fetch

import java.net.URI
import scala.concurrent.duration.*
import scala.util.Using

import munit.FunSuite

import weir.feeds.input.Login
import weir.program.BadInput

class ProxiesSuite extends FunSuite with FetchFixture:
  private def proxy(url: String, environment: (String, String)*): Option[String] =
    Proxies.of(environment.toMap).of(URI(url)).map(server => s"${server.host}:${server.port}")

  test("each scheme has its proxy, the general one is for those without, and lower case wins"):
    val both = Seq("http_proxy" -> "http://a:1", "HTTPS_PROXY" -> "b:2/")
    assertEquals(proxy("http://x.example/", both*), Some("a:1"))
    assertEquals(proxy("https://x.example/", both*), Some("b:2"))
    val all = Seq("ALL_PROXY" -> "c:3", "HTTP_PROXY" -> "upper:4")
    assertEquals(proxy("https://x.example/", all*), Some("c:3"))
    assertEquals(proxy("http://x.example/", all*), Some("upper:4"))
    assertEquals(proxy("http://x.example/", (all :+ "http_proxy" -> "lower:5")*), Some("lower:5"))
    assertEquals(proxy("http://x.example/", (all :+ "http_proxy" -> "")*), None)
    assertEquals(proxy("http://x.example/", "HTTP_PROXY" -> "[::1]"), Some("::1:1080"))
    assertEquals(proxy("http://x.example/"), None)

  test("HTTP_PROXY is ignored where a client may have set it"):
    val cgi = Seq("REQUEST_METHOD" -> "GET", "HTTP_PROXY" -> "evil:1")
    assertEquals(proxy("http://x.example/", cgi*), None)
    assertEquals(proxy("http://x.example/", (cgi :+ "http_proxy" -> "good:2")*), Some("good:2"))

  test("NO_PROXY names hosts, domains, addresses and ranges of them"):
    val without =
      "other.example, .a.example,B.example.,10.0.0.0/8,192.168.1.1 [fd00::1],fe80::/10"
    for host <- List(
        "a.example",
        "sub.a.example",
        "b.example.",
        "10.200.1.1",
        "192.168.1.1",
        "[fd00::1]",
        "[fe80::9]"
      )
    do assertEquals(proxy(s"http://$host:81/", "all_proxy" -> "p", "NO_PROXY" -> without), None)
    for host <- List("xa.example", "example", "11.0.0.1", "192.168.1.10", "[fd00::2]", "[::1]") do
      val found = proxy(s"http://$host/", "all_proxy" -> "p", "no_proxy" -> without)
      assertEquals(found, Some("p:1080"), host)
    assertEquals(proxy("http://x.example/", "all_proxy" -> "p", "no_proxy" -> "*"), None)

  test("a proxy that is no HTTP proxy is bad input, and its password is not shown"):
    for value <- List(
        "socks5://me:secret@p:1",
        "https://me:secret@p",
        "http://me:secret@p:99999",
        "http://me:secret@p/path",
        "http://me:secret@:80"
      )
    do
      val bad = intercept[BadInput](Proxies.of(Map("HTTPS_PROXY" -> value)))
      assertEquals(bad.place, "HTTPS_PROXY")
      assert(!bad.getMessage.contains("secret"), bad.getMessage)

  private def through(url: String, login: Option[Login], isGiven: Boolean = true)(
      answer: RawServer.Asked => Array[Byte]
  ): (Answer, Vector[RawServer.Asked]) =
    Using.resource(RawServer(answer)): server =>
      val at = s"http://me:pass%20word@127.0.0.1:${server.port}"
      val proxies = Proxies.of(Map("all_proxy" -> at, "no_proxy" -> "direct.example"))
      val fetcher = Fetcher(1.minute, 1000, identity, proxies = proxies)
      try
        val asking = feed(url).copy(login = login, isGiven = isGiven)
        (fetcher.fetch(asking).runSync(), server.asked)
      finally fetcher.close()

  private val proxyLogin = Login("me", "pass word").basic

  test("a proxy is asked for the whole address, with its login, and names no host to DNS"):
    val login = Some(Login("you", "too"))
    val (answer, asked) =
      through("http://feeds.invalid/x?y", login)(_ => RawServer.text(200)("<rss/>"))
    assertEquals(utf8(document(answer)), "<rss/>")
    assertEquals(asked.map(_.target), Vector("http://feeds.invalid/x?y"))
    assertEquals(asked.head.headers("proxy-authorization"), proxyLogin)
    assertEquals(asked.head.headers("authorization"), Login("you", "too").basic)

  test("a proxy is asked for a tunnel for https, with its login and without the feed's"):
    val (answer, asked) = through("https://feeds.invalid/", Some(Login("you", "too")))(_ =>
      RawServer.text(407, "Content-Length: 0")("")
    )
    assertEquals(asked.map(_.target), Vector("feeds.invalid:443"))
    assertEquals(asked.head.headers.get("proxy-authorization"), Some(proxyLogin))
    assertEquals(asked.head.headers.get("authorization"), None)
    assertEquals(failure(answer).detail, "the proxy made no connection: it answered 407")

  test("an address of this machine that a server named is not asked of a proxy"):
    val (answer, asked) = through("http://127.0.0.1/", None, isGiven = false)(_ => fail("asked"))
    assertEquals(failure(answer).reason, Reason.PrivateAddress)
    assertEquals(asked, Vector())
