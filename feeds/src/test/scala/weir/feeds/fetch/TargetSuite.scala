package weir.feeds.fetch

import java.net.{InetAddress, URI}
import scala.concurrent.duration.*
import scala.util.Using

import munit.FunSuite

class TargetSuite extends FunSuite with FetchFixture:
  private def loopback(name: String): Array[InetAddress] =
    if name == "my_feeds.example" then Array(InetAddress.getLoopbackAddress)
    else InetAddress.getAllByName(name)

  test("a host with an underscore is fetched from, and named in the request"):
    Using.resource(RawServer(_ => RawServer.text(200)("<rss/>"))): server =>
      val fetcher = Fetcher(1.minute, 1000, identity, resolve = loopback)
      try
        val url = s"http://my_feeds.example:${server.port}/x%20y?z"
        val found = document(fetcher.fetch(feed(url)).runSync())
        assertEquals((utf8(found), found.url.text), ("<rss/>", url))
        assertEquals(
          server.asked.map(asked => (asked.target, asked.headers("host"))),
          Vector(("/x%20y?z", s"my_feeds.example:${server.port}"))
        )
      finally fetcher.close()

  test("an IPv6 address is fetched from"):
    Using.resource(RawServer(_ => RawServer.text(200)("<rss/>"))): server =>
      val fetcher = Fetcher(1.minute, 1000, identity)
      try
        val url = s"http://[::ffff:127.0.0.1]:${server.port}/"
        assertEquals(utf8(document(fetcher.fetch(feed(url)).runSync())), "<rss/>")
      finally fetcher.close()

  test("a host with an underscore behind https fails and says why"):
    val refused =
      intercept[Failure.Abandoned](Target.of(URI("https://my_feeds.example/"), loopback))
    assertEquals(refused.failure.reason, Reason.Insecure)
    assert(refused.failure.detail.contains("my_feeds.example"), refused.failure.detail)

  test("an IPv6 address of such a host is in brackets"):
    val resolve = (_: String) => Array(InetAddress.ofLiteral("2001:db8::1"))
    assertEquals(
      Target.of(URI("http://my_feeds.example:81/x?y"), resolve(_)),
      Target(URI("http://[2001:db8:0:0:0:0:0:1]:81/x?y"), Some("my_feeds.example:81"))
    )
