package weir.feeds.input

import munit.FunSuite

class LoginSuite extends FunSuite:
  private def typed(text: String): NewFeed = NewFeed.typed(text).fold(fail(_), identity)

  test("a login is taken out of an address, decoded"):
    for (text, url, user, password) <- List(
        ("http://me:pw@a.example/x", "http://a.example/x", "me", "pw"),
        ("https://me@A.example", "https://a.example/", "me", ""),
        ("http://me:p%40:w@x@a.example/", "http://a.example/", "me", "p@:w@x"),
        ("feed://me:pw@a.example/x", "http://a.example/x", "me", "pw"),
        ("feed:https://me:pw@a.example/x", "https://a.example/x", "me", "pw"),
        (" http://me:pw@[::1]:81/@x ", "http://[::1]:81/@x", "me", "pw")
      )
    do
      val feed = typed(text)
      assertEquals((feed.url.text, feed.login), (url, Some(Login(user, password))), text)

  test("an address without a login has none"):
    for text <- List("http://a.example/x@y", "http://a.example?a@b", "http://@a.example/") do
      assertEquals(typed(text).login, None, text)

  test("an address that a server names has no login"):
    val page = typed("http://a.example/").url
    assert(page.resolve("http://me:secret@a.example/").left.exists(!_.contains("secret")))

  test("what is wrong with an address is said without its login"):
    for text <- List("http://me:secret@a.example:99999/", "http://me:secret@", "x://me:secret@a/")
    do assert(NewFeed.typed(text).left.exists(!_.contains("secret")), text)

  test("a title that is the address with its login is dropped"):
    val url = "http://me:pw@a.example/x"
    assertEquals(NewFeed.typed(url, Some(url)).map(_.title), Right(None))
    assertEquals(NewFeed.typed(url, Some("T")).map(_.title), Right(Some("T")))
