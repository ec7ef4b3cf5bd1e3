package weir.feeds.fetch

import java.net.{InetAddress, UnknownHostException}

import munit.FunSuite

import weir.feeds.site.LocalSite

import RawServer.{Asked, redirect, text}

class AddressGuardSuite extends FunSuite with FetchFixture:
  private val names = Map(
    "public.example" -> List("93.184.216.34"),
    "inside.example" -> List("10.0.0.7"),
    "both.example" -> List("93.184.216.34", "10.0.0.7")
  )

  private def resolve(name: String): Array[InetAddress] =
    if name.head.isDigit || name.startsWith("[") then InetAddress.getAllByName(name)
    else
      val found = names.getOrElse(name, throw UnknownHostException(name))
      found.flatMap(InetAddress.getAllByName).toArray

  private def redirected(from: String, to: String, allowsPrivate: Boolean = false): Answer =
    fetch(from, allowsPrivate = allowsPrivate, resolve = resolve) {
      case Asked("/from", _) => redirect(302, to)
      case _ => text(200)("<rss/>")
    }._1

  test("a redirect from a public to a private address is refused, and says so"):
    for private_ <- List(
        "http://127.0.0.1/",
        "http://localhost/",
        s"http://${LocalSite.host}/feeds/1.xml",
        "http://localhost.:81/",
        "http://2130706433/",
        "http://10.1.2.3/",
        "http://169.254.169.254/latest/meta-data/",
        "http://[::1]/",
        "http://[::ffff:192.168.0.1]/",
        "http://inside.example/",
        "http://both.example/"
      )
    do
      val refused = failure(redirected("http://public.example/from", private_))
      assertEquals(refused.reason, Reason.PrivateAddress, private_)
      assert(refused.detail.contains("--allow-private"), refused.detail)

  test("a redirect to a public address, or to a name that cannot be resolved, is followed"):
    for to <- List("http://8.8.8.8/", "http://public.example/", "http://unknown.example/") do
      assertEquals(utf8(document(redirected("http://public.example/from", to))), "<rss/>", to)

  test("what the user gave may be private, and may redirect to private addresses"):
    for from <- List("http://127.0.0.1/from", "http://inside.example/from") do
      assertEquals(utf8(document(redirected(from, "http://192.168.0.1/"))), "<rss/>")

  test("a name that is private only at one of its addresses may not redirect to a private one"):
    val answer = redirected("http://both.example/from", "http://192.168.0.1/")
    assertEquals(failure(answer).reason, Reason.PrivateAddress)

  test("a private address that redirects to a public one does not open the way back"):
    val (answer, _) = fetch("http://10.0.0.7/from", resolve = resolve):
      case Asked("/from", _) => redirect(302, "http://public.example/back")
      case Asked("/back", _) => redirect(302, "http://10.0.0.8/")
      case _ => text(200)("<rss/>")
    assertEquals(failure(answer).reason, Reason.PrivateAddress)

  test("--allow-private lets every redirect through"):
    val answer = redirected("http://public.example/from", "http://10.1.2.3/", allowsPrivate = true)
    assertEquals(utf8(document(answer)), "<rss/>")

  test("every private range is known, and its neighbours are public"):
    def range(address: String) = PrivateAddress.rangeOf(InetAddress.ofLiteral(address))
    for address <- List(
        "0.0.0.0",
        "10.255.255.255",
        "100.64.0.0",
        "100.127.255.255",
        "127.255.0.1",
        "169.254.169.254",
        "172.16.0.0",
        "172.31.255.255",
        "192.168.255.255",
        "192.0.0.8",
        "198.19.0.1",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "fe80::1",
        "fec0::1",
        "fc00::1",
        "fdff::1",
        "ff02::1",
        "::ffff:127.0.0.1",
        "::127.0.0.1",
        "64:ff9b::10.0.0.1",
        "2002:a00:1::"
      )
    do assert(range(address).nonEmpty, address)
    for address <- List(
        "1.1.1.1",
        "9.255.255.255",
        "11.0.0.0",
        "100.63.255.255",
        "100.128.0.0",
        "172.15.255.255",
        "172.32.0.0",
        "192.167.255.255",
        "192.0.1.1",
        "198.17.0.1",
        "198.20.0.1",
        "223.255.255.255",
        "2606:4700::1111",
        "::ffff:8.8.8.8",
        "64:ff9b::8.8.8.8",
        "2002:808:808::"
      )
    do assertEquals(range(address), None, address)
