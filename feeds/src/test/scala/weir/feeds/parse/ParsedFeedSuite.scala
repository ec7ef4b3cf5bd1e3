package weir.feeds.parse

import java.nio.charset.Charset
import java.nio.charset.StandardCharsets.{ISO_8859_1, UTF_16LE, UTF_8}

import munit.FunSuite

import weir.feeds.fetch.Reason
import weir.feeds.input.FeedUrl
import weir.program.TempFolder

class ParsedFeedSuite extends FunSuite with TempFolder:
  private def rss(title: String, encoding: String = "UTF-8", doctype: String = "") =
    s"""<?xml version="1.0" encoding="$encoding"?>$doctype
       |<rss version="2.0"><channel><title>$title</title><link>http://a.example/</link>
       |<description>d</description>
       |<item><title>One</title><guid>1</guid></item>
       |<item><title>Two</title><link>http://a.example/2</link></item>
       |<item><title>Three</title><description>no guid, no link</description></item>
       |<item><title>One again</title><guid>1</guid></item>
       |</channel></rss>""".stripMargin

  private val here = FeedUrl.parse("http://a.example/feeds/one").toOption.get

  private def parsed(bytes: Array[Byte], charset: Option[String] = None): ParsedFeed.Feed =
    ParsedFeed.parse(bytes, charset, here) match
      case Right(feed: ParsedFeed.Feed) => feed
      case other => fail(other.toString)

  private def refusal(bytes: Array[Byte], charset: Option[String] = None) =
    ParsedFeed
      .parse(bytes, charset, here)
      .left
      .map(_.reason)
      .left
      .getOrElse(fail("it was accepted"))

  test("an item is named by its guid, its link, or else its text"):
    val items = parsed(rss("T").getBytes(UTF_8)).items
    assertEquals(items.flatMap(_.title), Vector("One", "Two", "Three", "One again"))
    assertEquals(items.map(_.guid).patch(2, Nil, 1), Vector("1", "http://a.example/2", "1"))
    assertEquals(items(2).guid, parsed(rss("T").getBytes(UTF_8)).items(2).guid)

  test("an Atom feed is read too"):
    val atom = """<feed xmlns="http://www.w3.org/2005/Atom"><title>T</title><id>i</id>
      |<entry><id>e1</id><title>E</title><updated>2026-01-02T03:04:05Z</updated></entry>
      |</feed>""".stripMargin
    val feed = parsed(atom.getBytes(UTF_8))
    assertEquals(feed.items.map(_.guid), Vector("e1"))
    assertEquals(feed.items.head.publishedAt, Some(1767323045000L))

  test("right encodings are believed"):
    val windows = Charset.forName("windows-1251")
    for (bytes, served) <- List(
        (rss("é").getBytes(UTF_8), None),
        (rss("é", "ISO-8859-1").getBytes(ISO_8859_1), None),
        (rss("é").getBytes(UTF_8), Some("utf-8")),
        (("\uFEFF" + rss("é", "UTF-16")).getBytes(UTF_16LE), None),
        (("\uFEFF" + rss("é")).getBytes(UTF_8), None)
      )
    do
      assertEquals(parsed(bytes, served).head.about.title, Some("é"))
      assertEquals(parsed(bytes, served).reason, Reason.Fetched)
    assertEquals(parsed(rss("ж", "windows-1251").getBytes(windows)).head.about.title, Some("ж"))

  test("wrong encodings are recovered where the text can be known"):
    for (bytes, served) <- List(
        (rss("é").getBytes(ISO_8859_1), Some("utf-8")),
        (rss("é").getBytes(UTF_8), Some("iso-8859-1")),
        (rss("é", "us-ascii").getBytes(UTF_8), None),
        (rss("é", "x-klingon").getBytes(UTF_8), None)
      )
    do
      assertEquals(parsed(bytes, served).head.about.title, Some("é"))
      assertEquals(parsed(bytes, served).reason, Reason.EncodingRecovered)

  test("an unknown encoding, over bytes that are not UTF-8, is refused"):
    assertEquals(refusal(rss("é", "x-klingon").getBytes(ISO_8859_1)), Reason.WrongEncoding)

  folder.test("an external entity is left out and never opened"): folder =>
    val secret = write(folder, "secret.txt", "SECRET")
    val doctype = s"""<!DOCTYPE rss [<!ENTITY x SYSTEM "${secret.toUri}">]>"""
    val feed = parsed(rss("a&x;b", doctype = doctype).getBytes(UTF_8))
    assertEquals(feed.head.about.title, Some("ab"))
    assertEquals(feed.reason, Reason.EntityLeftOut)

  test("an external DTD and parameter entities are not opened either"):
    val dtd = """<!DOCTYPE rss SYSTEM "file:///nowhere/at/all.dtd">"""
    assertEquals(parsed(rss("T", doctype = dtd).getBytes(UTF_8)).head.about.title, Some("T"))
    val parameter = """<!DOCTYPE rss [<!ENTITY % p SYSTEM "file:///nowhere/at/all">%p;]>"""
    assertEquals(parsed(rss("T", doctype = parameter).getBytes(UTF_8)).head.about.title, Some("T"))

  test("entities of its own are expanded, but not for ever"):
    val honest = """<!DOCTYPE rss [<!ENTITY hi "hello">]>"""
    assertEquals(
      parsed(rss("&hi;", doctype = honest).getBytes(UTF_8)).head.about.title,
      Some("hello")
    )
    val levels = (1 to 9).map: level =>
      val inner = if level == 1 then "lol" else s"&e${level - 1};"
      s"""<!ENTITY e$level "${inner * 10}">"""
    val bomb = levels.mkString("<!DOCTYPE rss [", "", "]>")
    assertEquals(refusal(rss("&e9;", doctype = bomb).getBytes(UTF_8)), Reason.EntityBomb)

  test("what is no feed, well-formed or not, is told apart"):
    val broken = "<br /><b>Fatal error</b>: in /srv/feed.php"
    assertEquals(refusal(broken.getBytes(UTF_8)), Reason.Malformed)
    assertEquals(refusal(Array.emptyByteArray), Reason.Malformed)
    assertEquals(refusal("<note><to>you</to></note>".getBytes(UTF_8)), Reason.NotAFeed)
    assertEquals(refusal("<html><body>hi</body></html>".getBytes(UTF_8)), Reason.NotAFeed)
    assertEquals(refusal("<rss>\n</rss>".getBytes(UTF_8)), Reason.NotAFeed)

  test("a letter that was cut in two does not make the rest unreadable"):
    val bytes = rss("äöü ÄÖÜ é").getBytes(UTF_8)
    val cut = bytes.patch(bytes.indexOf(0xc3.toByte), Nil, 1)
    val feed = parsed(cut, Some("utf-8"))
    assert(feed.head.about.title.exists(_.endsWith("öü ÄÖÜ é")), feed.head.about.title)
    assertEquals(feed.reason, Reason.EncodingRecovered)
    val marked = parsed("\uFEFF".getBytes(UTF_8) ++ cut)
    assert(marked.head.about.title.exists(_.endsWith("öü ÄÖÜ é")), marked.head.about.title)

  test("UTF-8 that says it is UTF-16 is read, whether its length is even or odd"):
    for title <- List("T", "Tt") do
      assertEquals(parsed(rss(title, "utf-16").getBytes(UTF_8)).head.about.title, Some(title))
