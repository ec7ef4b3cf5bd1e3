package weir.feeds.parse

import java.nio.charset.StandardCharsets.UTF_8

import munit.FunSuite

import weir.feeds.input.FeedUrl
import weir.feeds.store.{Enclosure, Item}

/** Tests the parts of entries that are lists, in all formats. */
class EntryPartsSuite extends FunSuite:
  private val here = FeedUrl.parse("http://a.example/feeds/one").toOption.get

  private def first(text: String): Item = ParsedFeed.parse(text.getBytes(UTF_8), None, here) match
    case Right(feed: ParsedFeed.Feed) => feed.items.head
    case other => fail(other.toString)

  private def rss(fields: String) = first(
    s"""<rss version="2.0" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"
       |xmlns:dc="http://purl.org/dc/elements/1.1/"><channel><title>T</title>
       |<item><title>1</title>$fields</item></channel></rss>""".stripMargin
  )

  private def atom(fields: String, feed: String = "") = first(
    s"""<feed xmlns="http://www.w3.org/2005/Atom"><title>T</title>$feed
       |<entry><title>1</title>$fields</entry></feed>""".stripMargin
  )

  private def json(fields: String, feed: String = "") = first(
    s"""{"version":"https://jsonfeed.org/version/1.1",$feed"items":[{"id":"1",$fields}]}"""
  )

  test("the authors of RSS are those of all its elements, by their names"):
    def authors(fields: String) = rss(fields).authors
    assertEquals(authors("<author>ann@a.example (Ann &amp; Co)</author>"), Vector("Ann & Co"))
    assertEquals(authors("<author>Ann Lee &lt;ann@a.example&gt;</author>"), Vector("Ann Lee"))
    assertEquals(authors("<author>ann@a.example</author>"), Vector("ann@a.example"))
    val both =
      "<author>ann@a.example</author><dc:creator>Ann</dc:creator><dc:creator>Bob</dc:creator>"
    assertEquals(authors(both), Vector("Ann", "Bob"))
    assertEquals(authors("<itunes:author>Show</itunes:author>"), Vector("Show"))
    assertEquals(
      authors("<itunes:author>S</itunes:author><dc:creator>Ann</dc:creator>"),
      Vector("Ann")
    )
    assertEquals(authors("<author>Ann</author><dc:creator> Ann\n</dc:creator>"), Vector("Ann"))
    assertEquals(authors("<author/>"), Vector())

  test("an entry of Atom has its own authors, or those of the feed"):
    val ann = "<author><name>Ann</name><email>ann@a.example</email><uri>/ann</uri></author>"
    val bob = "<author><email>bob@a.example</email></author>"
    assertEquals(atom(ann + bob).authors, Vector("Ann"))
    assertEquals(atom(bob).authors, Vector("bob@a.example"))
    assertEquals(atom("", feed = ann).authors, Vector("Ann"))
    assertEquals(atom(bob, feed = ann).authors, Vector("bob@a.example"))

  test("the categories are those that people read, each once"):
    assertEquals(
      rss(
        "<category domain='d'>a &amp;amp; b</category><dc:subject>c</dc:subject>" +
          "<category>c</category>"
      ).categories,
      Vector("a & b", "c")
    )
    assertEquals(
      atom("<category term='t1' label='One'/><category term='t2'/><category/>").categories,
      Vector("One", "t2")
    )
    assertEquals(json(""""tags":["a"," b ","a",3,null]""").categories, Vector("a", "b", "3"))

  test("files have their address, type, length, and how long they play"):
    val podcast = rss(
      """<enclosure url="/1.mp3" type="audio/mpeg" length="123"/>
        |<itunes:duration>1:02:03</itunes:duration><enclosure url="/1.mp3"/>
        |<enclosure url="/2.pdf" length="0" type=""/><enclosure/>""".stripMargin
    )
    assertEquals(
      podcast.enclosures,
      Vector(
        Enclosure("http://a.example/1.mp3", Some("audio/mpeg"), Some(123), Some(3723)),
        Enclosure("http://a.example/2.pdf", None, None, Some(3723))
      )
    )
    assertEquals(podcast.url, Some("http://a.example/1.mp3"))
    assertEquals(
      atom(
        """<link rel="enclosure" href="/1" type="video/mp4" length="9"/><link href="/"/>"""
      ).enclosures,
      Vector(Enclosure("http://a.example/1", Some("video/mp4"), Some(9), None))
    )
    assertEquals(
      json(""""attachments":[{"url":"/1","mime_type":"audio/x","size_in_bytes":5,
        |"duration_in_seconds":6.5},{}]""".stripMargin).enclosures,
      Vector(Enclosure("http://a.example/1", Some("audio/x"), Some(5), Some(6)))
    )

  test("how long something plays is written in seconds, or with minutes, or with hours"):
    for (text, seconds) <- List(
        "7" -> Some(7L),
        " 3723 " -> Some(3723L),
        "62:03" -> Some(3723L),
        "1:02:03" -> Some(3723L),
        "01:02:03.5" -> Some(3723L),
        "" -> None,
        "an hour" -> None,
        "1:2:3:4" -> None,
        "-5" -> None
      )
    do assertEquals(EntryParts.seconds(text), seconds, text)

  test("JSON Feed has one author or many, of the item or of the feed"):
    assertEquals(
      json(""""authors":[{"name":"Ann"},{"url":"/bob"},{}]""").authors,
      Vector("Ann", "/bob")
    )
    assertEquals(json(""""author":{"name":"Ann"}""").authors, Vector("Ann"))
    assertEquals(json(""""title":"x"""", """"authors":[{"name":"Ann"}],""").authors, Vector("Ann"))
