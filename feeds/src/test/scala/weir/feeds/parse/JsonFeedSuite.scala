package weir.feeds.parse

import java.nio.charset.StandardCharsets.UTF_8

import munit.FunSuite

import weir.feeds.fetch.Reason
import weir.feeds.input.FeedUrl

class JsonFeedSuite extends FunSuite:
  private val here = FeedUrl.parse("http://a.example/feeds/one").toOption.get

  private def parse(json: String) = ParsedFeed.parse(json.getBytes(UTF_8), None, here)

  private def feed(items: String) =
    s"""{"version":"https://jsonfeed.org/version/1.1","title":"T","items":[$items]}"""

  private def items(json: String) = parse(json) match
    case Right(feed: ParsedFeed.Feed) => feed.items
    case other => fail(other.toString)

  test("an item of a JSON Feed has all its fields"):
    val Vector(item) = items(feed("""{"id":"1","url":"/one","title":"One","summary":"s & t",
      |"content_html":"<p>long enough</p>","date_published":"2026-01-02T03:04:05+01:00"}
      |""".stripMargin)): @unchecked
    assertEquals(item.guid, "1")
    assertEquals(item.url, Some("http://a.example/one"))
    assertEquals(item.title, Some("One"))
    assertEquals(item.summary, Some("s &amp; t"))
    assertEquals(item.content, Some("<p>long enough</p>"))
    assertEquals(item.publishedAt, Some(1767319445000L))

  test("numbers as ids, plain text and missing fields are put up with"):
    val all =
      items(feed("""{"id":7,"content_text":"a < b"},{"external_url":"http://b.example/"},{},3"""))
    assertEquals(all.map(_.guid).take(2), Vector("7", "http://b.example/"))
    assertEquals((all.head.summary, all.head.content), (None, Some("a &lt; b")))
    assertEquals(all.size, 3)

  test("other JSON is no feed, and what is not JSON is none either"):
    for text <- List(
        """{"items":[]}""",
        """{"version":"https://jsonfeed.org/version/1"}""",
        "{",
        "{]"
      )
    do assertEquals(parse(text).left.map(_.reason), Left(Reason.NotAFeed), text)

  test("long numbers as ids are told apart, and a number beyond all is none"):
    val all =
      items(feed("""{"id":1234567890123456561},{"id" : 1234567890123456562,"title":1e999}"""))
    assertEquals(all.map(_.guid), Vector("1234567890123456561", "1234567890123456562"))
