package weir.feeds.fetch

import java.nio.charset.StandardCharsets.ISO_8859_1

import munit.FunSuite

import RawServer.{Asked, redirect, text}

class FetchedRedirectSuite extends FunSuite with FetchFixture:
  private val ok = text(200)("<rss/>")

  /** The target that is asked for after a redirect to `location`. */
  private def second(location: Array[Byte]): String =
    val head = "HTTP/1.1 302 x\r\nConnection: close\r\nContent-Length: 0\r\nLocation: ".getBytes
    val (answer, asked) = fetch("http://a.example/b/c?d"):
      case Asked("/b/c?d", _) => head ++ location ++ "\r\n\r\n".getBytes
      case _ => ok
    assertEquals(utf8(document(answer)), "<rss/>")
    asked.last.target

  test("a location in raw UTF-8, or in another encoding, is asked for byte by byte"):
    assertEquals(second("/é/📰".getBytes("UTF-8")), "/%C3%A9/%F0%9F%93%B0")
    assertEquals(second("/é".getBytes(ISO_8859_1)), "/%E9")

  test("a location with characters that are none of an address is asked for as browsers do"):
    assertEquals(second("/x y|z?a b|%".getBytes), "/x%20y%7Cz?a%20b%7C%25")

  test("locations that leave out parts are completed"):
    for (location, target) <- List(
        "x" -> "/b/x",
        "?x" -> "/b/c?x",
        "../x#part" -> "/x",
        "//other.example/x" -> "/x",
        "http://other.example" -> "/"
      )
    do assertEquals(second(location.getBytes), target, location)

  test("a redirect to nowhere says where"):
    for (location, words) <- List(
        "ftp://a.example/" -> "'ftp://a.example/' is not an http or https URL",
        "http://" -> "'http://' has no host",
        "http://me:secret@a.example/" -> "has a user name in it",
        "" -> "without a Location"
      )
    do
      val (answer, _) = fetch("http://a.example/")(_ => redirect(302, location))
      assertEquals(failure(answer).reason, Reason.BadRedirect, location)
      assert(failure(answer).detail.contains(words), failure(answer).detail)
      assert(!failure(answer).detail.contains("secret"), failure(answer).detail)

  test("300 is followed if it names a choice, and is not for good"):
    val (chosen, _) = fetch("http://a.example/"):
      case Asked("/", _) => redirect(300, "/b")
      case _ => ok
    assertEquals(document(chosen).url.text, "http://a.example/b")
    assertEquals(document(chosen).movedTo, None)
    val (open, _) = fetch("http://a.example/")(_ => text(300, "Content-Length: 0")(""))
    assertEquals(failure(open).detail, "status 300")

  test("a document has the address that it came from, its media type and its charset"):
    val (answer, _) = fetch("http://a.example/"):
      case Asked("/", _) => redirect(301, "http://b.example/x")
      case _ => text(200, "Content-Type: Application/RSS+xml ;Charset=UTF-8")("<rss/>")
    val found = document(answer)
    assertEquals(found.url.text, "http://b.example/x")
    assertEquals(found.movedTo, Some(found.url))
    assertEquals(found.charset, Some("UTF-8"))

  test("a site that redirects to itself until it gets its cookie is fetched"):
    val (answer, asked) = fetch("http://a.example/feed"):
      case Asked(_, headers) if headers.get("cookie").contains("seen=1") => ok
      case _ => redirect(301, "/feed", "Set-Cookie: seen=1; Path=/; HttpOnly")
    assertEquals(document(answer).movedTo, None)
    assertEquals(asked.map(_.headers.get("cookie")), Vector(None, Some("seen=1")))

  test("a site that wants a cookie again and again is a loop"):
    val (answer, asked) =
      fetch("http://a.example/")(_ => redirect(302, "/", "Set-Cookie: a=1"))
    assertEquals(failure(answer).reason, Reason.RedirectLoop)
    assertEquals(asked.size, 2)

  test("a cookie is not sent to another site, nor with the next fetch"):
    val (answer, asked) = fetch("http://a.example/"):
      case Asked("/", _) => redirect(302, "http://b.example/b", "Set-Cookie: a=1")
      case Asked("/b", _) => redirect(302, "http://a.example/c")
      case _ => ok
    assertEquals(asked.map(_.headers.get("cookie")), Vector(None, None, Some("a=1")))
    assertEquals(document(answer).movedTo, None)

  test("a new address that needs a cookie from the way is not believed"):
    val (answer, _) = fetch("http://a.example/"):
      case Asked("/", _) => redirect(301, "/b", "Set-Cookie: a=1")
      case _ => ok
    assertEquals(document(answer).movedTo, None)

  test("each success that may have a whole body is a document"):
    for status <- List(200, 201, 202, 203, 226) do
      val (answer, _) = fetch("http://a.example/")(_ => text(status)("<rss/>"))
      assertEquals(utf8(document(answer)), "<rss/>", status)
    for status <- List(204, 205, 206) do
      val (answer, _) = fetch("http://a.example/")(_ => text(status, "Content-Length: 0")(""))
      assertEquals(failure(answer).reason, Reason.OtherAnswer, status)

  test("the program says who it is, and where its page is"):
    val (_, asked) = fetch("http://a.example/")(_ => ok)
    val name = asked.head.headers("user-agent")
    assert(name.matches("weir-feeds/[^ ]+ \\(\\+https://github.com/weir-scala/weir\\)"), name)
