package weir.feeds.fetch

import java.net.{InetAddress, ServerSocket, UnknownHostException}
import java.util.concurrent.atomic.AtomicInteger
import scala.concurrent.duration.*
import scala.util.Using

import munit.FunSuite

import weir.feeds.store.DueFeed

class HostAddressesSuite extends FunSuite with FetchFixture:
  private def address(text: String) = InetAddress.ofLiteral(text)

  private def jdk(name: String): Option[String] =
    try Some(InetAddress.getByName(name).getHostAddress)
    catch case _: UnknownHostException => None

  /** The addresses that the JDK knows for a name after each step of a test. */
  private def withHosts(resolve: String => Array[InetAddress])(body: HostAddresses => Unit): Unit =
    Using.resource(HostAddresses(resolve))(body)

  test(
    "the JDK finds a name that is held at the addresses that were found first, and then no more"
  ):
    val asked = AtomicInteger()
    withHosts(_ => Array(address(s"127.0.0.${asked.incrementAndGet()}"))): hosts =>
      assertEquals(jdk("held.example"), None)
      Using.resource(hosts.holds()): first =>
        assertEquals(first.addresses("held.example"), Vector(address("127.0.0.1")))
        Using.resource(hosts.holds()): second =>
          assertEquals(second.addresses("held.example"), Vector(address("127.0.0.1")))
        assertEquals(jdk("held.example"), Some("127.0.0.1"))
      // A client whose fetch has ended may still be about to connect.
      assertEquals(jdk("held.example"), Some("127.0.0.1"))
    assertEquals(jdk("held.example"), None)
    assertEquals(asked.get, 1)

  test("a name that was unknown when it was held stays unknown to the JDK"):
    withHosts(name => throw UnknownHostException(name)): unknown =>
      withHosts(_ => Array(address("127.0.0.1"))): known =>
        Using.resource(unknown.holds()): names =>
          assertEquals(names.addresses("held.example"), Vector())
          known.holds().addresses("held.example"): Unit
          assertEquals(jdk("held.example"), None)
        unknown.close()
        assertEquals(jdk("held.example"), Some("127.0.0.1"))

  test("an address is its own, without a look-up"):
    withHosts(name => fail(name)): hosts =>
      Using.resource(hosts.holds()): names =>
        assertEquals(names.addresses("10.0.0.1"), Vector(address("10.0.0.1")))
        assertEquals(names.addresses("[::1]"), Vector(address("::1")))

  /** Servers of one port at two addresses. */
  private def withTwins(body: (RawServer, RawServer) => Unit): Unit =
    val rss = RawServer.text(200)("<rss/>")
    Using.resource(RawServer(_ => rss)): first =>
      Using.resource(RawServer(_ => rss, address("127.0.0.2"), first.port))(body(first, _))

  test("a request goes to the address that was checked, though the name has another since"):
    withTwins: (first, second) =>
      val asked = AtomicInteger()
      val resolve = (_: String) =>
        Array(address(if asked.incrementAndGet() == 1 then "127.0.0.1" else "127.0.0.2"))
      val fetcher = Fetcher(1.minute, 1000, identity, allowsPrivate = true, resolve = resolve)
      try
        for isGiven <- List(true, false) do
          val named = feed(s"http://rebind.example:${first.port}/").copy(isGiven = isGiven)
          assertEquals(utf8(document(fetcher.fetch(named).runSync())), "<rss/>")
        assertEquals((first.asked.size, second.asked.size, asked.get), (2, 0, 1))
      finally fetcher.close()

  test("a name that a server gave is refused at an address of this machine, without a connection"):
    Using.resource(ServerSocket(0, 1, InetAddress.getLoopbackAddress)): server =>
      val fetcher =
        Fetcher(1.minute, 1000, identity, resolve = _ => Array(address("127.0.0.1")))
      try
        val named: DueFeed = feed(s"http://rebind.example:${server.getLocalPort}/")
        val answer = fetcher.fetch(named.copy(isGiven = false)).runSync()
        assertEquals(failure(answer).reason, Reason.PrivateAddress)
        server.setSoTimeout(1)
        intercept[java.net.SocketTimeoutException](server.accept())
      finally fetcher.close()
