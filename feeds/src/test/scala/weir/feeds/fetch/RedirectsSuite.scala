package weir.feeds.fetch

import munit.FunSuite

import weir.feeds.input.FeedUrl

class RedirectsSuite extends FunSuite:
  private val guard = AddressGuard(isOpen = true, HostAddresses(_ => Array()).holds())

  private def from(url: String) =
    Redirects.from(guard, guard.first(FeedUrl.parse(url).toOption.get, isGiven = true))

  private def reason(body: => Any) = intercept[Failure.Abandoned](body).failure.reason

  test("a relative location is resolved against the hop before"):
    val way = from("http://a.example/x/feed").follow(302, Some("../y?z")).follow(307, Some("q"))
    assertEquals(way.current.text, "http://a.example/q")

  test("the new address is believed if every hop was for good"):
    val good = from("http://a.example/").follow(301, Some("/b")).follow(308, Some("/c"))
    assertEquals(good.movedTo.map(_.text), Some("http://a.example/c"))
    assertEquals(good.follow(302, Some("/d")).movedTo, None)
    assertEquals(from("http://a.example/").movedTo, None)

  test("a move from http to https is believed, and never one back"):
    val up = from("http://a.example/").follow(301, Some("https://a.example/"))
    assertEquals(up.movedTo.map(_.text), Some("https://a.example/"))
    val down = from("https://a.example/").follow(301, Some("http://a.example/"))
    assertEquals(down.movedTo, None)

  test("an address that comes again is a loop, also by another spelling"):
    val way = from("http://a.example/").follow(302, Some("/b"))
    assertEquals(reason(way.follow(302, Some("HTTP://A.example:80/#x"))), Reason.RedirectLoop)

  test("a way that is too long, and one that leads nowhere, end"):
    def on(way: Redirects, hop: Int): Redirects = on(way.follow(302, Some(s"/$hop")), hop + 1)
    assertEquals(reason(on(from("http://a.example/"), 1)), Reason.TooManyRedirects)
    assertEquals(reason(from("http://a.example/").follow(302, None)), Reason.BadRedirect)
    assertEquals(
      reason(from("http://a.example/").follow(302, Some("file:///etc/passwd"))),
      Reason.BadRedirect
    )
