package weir.cli.feeds.input

import munit.FunSuite

class FeedUrlSuite extends FunSuite:
  private def normal(text: String) = FeedUrl.parse(text).map(_.text)

  test("equal addresses have one form"):
    for same <- List(
        "http://Example.ORG/a?b",
        "HTTP://example.org:80/a?b#part",
        "  http://example.org/a?b  "
      )
    do assertEquals(normal(same), Right("http://example.org/a?b"))

  test("an empty path is the root, and another port is kept"):
    assertEquals(normal("https://example.org"), Right("https://example.org/"))
    assertEquals(normal("https://example.org:8443"), Right("https://example.org:8443/"))

  test("what servers may tell apart stays apart"):
    assertNotEquals(normal("http://example.org/a"), normal("http://example.org/a/"))
    assertNotEquals(normal("http://example.org/A"), normal("http://example.org/a"))

  test("names and paths of any language become ASCII"):
    assertEquals(normal("http://bücher.example/é"), Right("http://xn--bcher-kva.example/%C3%A9"))

  test("the host has its port"):
    assertEquals(FeedUrl.parse("http://a.example:81/x").map(_.host), Right("a.example:81"))

  test("what cannot be fetched is refused"):
    for bad <- List(
        "",
        "example.org/feed",
        "ftp://example.org/",
        "file:///etc/passwd",
        "http://",
        "http:///feed",
        "http://exa mple.org/",
        "http://example.org:99999/",
        "http://me:secret@example.org/"
      )
    do assert(normal(bad).isLeft, bad)
