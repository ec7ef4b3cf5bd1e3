package weir.feeds.input

import munit.FunSuite

class FeedUrlSuite extends FunSuite:
  private def normal(text: String) = FeedUrl.parse(text).map(_.text)

  private def typed(text: String) = FeedUrl.typed(text).map(_.text)

  test("equal addresses have one form"):
    for same <- List(
        "http://Example.ORG/a?b",
        "HTTP://example.org:80/a?b#part",
        "  http://example.org/a?b  ",
        "http:\\\\example.org\\a?b",
        "http://example.org/./x/%2E./a?b",
        "http://exam\nple.org/\ta?b"
      )
    do assertEquals(normal(same), Right("http://example.org/a?b"))

  test("an empty path is the root, and another port is kept"):
    assertEquals(normal("https://example.org"), Right("https://example.org/"))
    assertEquals(normal("https://example.org:8443"), Right("https://example.org:8443/"))
    assertEquals(normal("https://example.org:?x"), Right("https://example.org/?x"))

  test("what servers may tell apart stays apart"):
    assertNotEquals(normal("http://example.org/a"), normal("http://example.org/a/"))
    assertNotEquals(normal("http://example.org/A"), normal("http://example.org/a"))
    assertNotEquals(normal("http://example.org/%41"), normal("http://example.org/A"))
    assertEquals(normal("http://h.example/a//b/?x=//y"), Right("http://h.example/a//b/?x=//y"))

  test("names, paths and queries of any language become ASCII, beyond 16 bits too"):
    assertEquals(normal("http://bücher.example/é"), Right("http://xn--bcher-kva.example/%C3%A9"))
    assertEquals(normal("https://h.example/📰.xml"), Right("https://h.example/%F0%9F%93%B0.xml"))
    assertEquals(
      normal("https://h.example/?q=日本"),
      Right("https://h.example/?q=%E6%97%A5%E6%9C%AC")
    )
    assertEquals(normal("https://📰.example/"), Right("https://xn--mu8h.example/"))
    assertEquals(normal("https://例え。jp/"), Right("https://xn--r8jz45g.jp/"))

  test("characters that browsers accept are percent-encoded, and codes stay as they are"):
    assertEquals(
      normal("http://h.example/a b|c[d]{e}^f`g\"h<i>j%k%41%zz"),
      Right("http://h.example/a%20b%7Cc%5Bd%5D%7Be%7D%5Ef%60g%22h%3Ci%3Ej%25k%41%25zz")
    )
    assertEquals(
      normal("http://h.example/?a b|c[d]{e}^f`g\"h<i>j%k%41%"),
      Right("http://h.example/?a%20b%7Cc[d]%7Be%7D%5Ef%60g%22h%3Ci%3Ej%25k%41%25")
    )

  test("each ASCII character in a path or a query makes an address that the JDK takes"):
    for code <- 0x20 to 0x7e; form <- List("http://h.example/x%sy", "http://h.example/?x%sy") do
      val text = form.format(code.toChar)
      assertEquals(FeedUrl.parse(text).map(_.uri.getScheme), Right("http"), text)

  test("the normal form of a normal form is itself"):
    for text <- List(
        "http://h.example/a b|%?x[y] z",
        "http://a_b.example/📰?%",
        "http://[::1]:81/x"
      )
    do
      val once = FeedUrl.parse(text).fold(fail(_), _.text)
      assertEquals(normal(once), Right(once))

  test("a host name may have an underscore"):
    val url = FeedUrl.parse("http://My_Feeds.Example:8080/x").fold(fail(_), identity)
    assertEquals(url.text, "http://my_feeds.example:8080/x")
    assertEquals((url.host, url.hostName), ("my_feeds.example:8080", "my_feeds.example"))

  test("IP addresses have their usual form, so no other spelling evades a rule"):
    for old <- List(
        "127.1",
        "0x7f.0.0.1",
        "2130706433",
        "0177.0.0.1",
        "%31%32%37.0.0.1",
        "127.0.0.1."
      )
    do assertEquals(normal(s"http://$old/"), Right("http://127.0.0.1/"), old)
    assertEquals(normal("http://[2001:DB8::1]:80/x"), Right("http://[2001:db8::1]/x"))
    assertEquals(FeedUrl.parse("http://[::1]:81/").map(_.hostName), Right("[::1]"))

  test("the host has its port"):
    assertEquals(FeedUrl.parse("http://a.example:81/x").map(_.host), Right("a.example:81"))

  test("a reference is resolved as browsers do"):
    val base = FeedUrl.parse("http://a.example/b/c/d?q").fold(fail(_), identity)
    for (reference, whole) <- List(
        "e" -> "http://a.example/b/c/e",
        "../e" -> "http://a.example/b/e",
        "../../../e" -> "http://a.example/e",
        "." -> "http://a.example/b/c/",
        "/e f|g" -> "http://a.example/e%20f%7Cg",
        "?x" -> "http://a.example/b/c/d?x",
        "" -> "http://a.example/b/c/d?q",
        "#part" -> "http://a.example/b/c/d?q",
        "//other.example/x" -> "http://other.example/x",
        "\\\\other.example\\x" -> "http://other.example/x",
        "https://other.example" -> "https://other.example/",
        "x?u=http://y/#z" -> "http://a.example/b/c/x?u=http://y/"
      )
    do assertEquals(base.resolve(reference).map(_.text), Right(whole), reference)

  test("a reference to what cannot be fetched is refused by name"):
    val base = FeedUrl.parse("http://a_b.example/").fold(fail(_), identity)
    for bad <- List("file:///etc/passwd", "javascript:alert(1)", "//", "http://", "https:x") do
      assert(base.resolve(bad).left.exists(_.startsWith(s"'$bad'")), s"$bad ${base.resolve(bad)}")

  test("what cannot be fetched is refused"):
    for bad <- List(
        "",
        "example.org/feed",
        "ftp://example.org/",
        "file:///etc/passwd",
        "http://",
        "http:///feed",
        "http:example.org",
        "http://exa mple.org/",
        "http://example..org/",
        "http://example.org:99999/",
        "http://example.org:99999999999999999999/",
        "http://example.org:0/",
        "http://example.org:x/",
        "http://[::1/",
        "http://[1.2.3.4]/",
        "http://[fe80::1%25eth0]/",
        "http://1.2.3.4.5/",
        "http://256.1.1.1/",
        "http://a%00b.example/",
        "http://me:secret@example.org/"
      )
    do assert(normal(bad).isLeft, s"$bad ${normal(bad)}")

  test("a password in an address is not repeated"):
    assert(normal("http://me:secret@example.org/").left.exists(!_.contains("secret")))

  test("users may leave out the scheme of a host with a dot, and write feed: as readers do"):
    for (text, whole) <- List(
        "example.org/feed.xml" -> "https://example.org/feed.xml",
        " example.org " -> "https://example.org/",
        "example.org:8080/x?y:z" -> "https://example.org:8080/x?y:z",
        "bücher.example/é" -> "https://xn--bcher-kva.example/%C3%A9",
        "feed://example.org/x" -> "http://example.org/x",
        "FEED:example.org/x" -> "http://example.org/x",
        "feeds://example.org/x" -> "https://example.org/x",
        "feed:https://example.org/x" -> "https://example.org/x",
        "feed://http://example.org/x" -> "http://example.org/x",
        "http://localhost/x" -> "http://localhost/x"
      )
    do assertEquals(typed(text), Right(whole), text)
    for bad <- List(
        "hello",
        "p=path.split('?')",
        "feed:x",
        "htp:/b",
        "mailto:me@example.org",
        "two words.here",
        "ftp://a.b/"
      )
    do assert(typed(bad).isLeft, s"$bad ${typed(bad)}")
