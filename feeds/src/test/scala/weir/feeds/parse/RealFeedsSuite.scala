package weir.feeds.parse

import java.nio.charset.StandardCharsets.UTF_8

import munit.FunSuite

import weir.feeds.input.FeedUrl
import weir.feeds.store.Item

/** Feeds of other projects' tests, and what an independent reader (Python's feedparser 6.0.14)
  * makes of them: how many entries there are, and the link, title and date of the first. If we want
  * something else, `expected.jsonl` has that, with the reason. `SOURCES.tsv` beside them has the
  * origin and the licence of each feed.
  */
class RealFeedsSuite extends FunSuite:
  private val folder = "/weir/feeds/real"
  private val here = FeedUrl.parse("http://example.org/feed/").toOption.get

  private def bytes(name: String): Array[Byte] =
    val in = getClass.getResourceAsStream(s"$folder/$name")
    try in.readAllBytes()
    finally in.close()

  private final case class Expected(
      file: String,
      entries: Int,
      link: Option[String],
      title: Option[String],
      published: Option[Long]
  )

  private val expected: Vector[Expected] =
    String(bytes("expected.jsonl"), UTF_8).linesIterator.toVector.map: line =>
      val json = ujson.read(line)
      def text(name: String) = json(name).strOpt.map(_.trim).filter(_.nonEmpty)
      Expected(
        file = json("file").str,
        entries = json("entries").num.toInt,
        link = text("link"),
        title = text("title"),
        published = json("published").numOpt.map(_.toLong)
      )

  private def items(file: String): Vector[Item] =
    ParsedFeed.parse(bytes(file), None, here) match
      case Right(feed: ParsedFeed.Feed) => feed.items
      case _ => Vector.empty

  for feed <- expected do
    test(feed.file):
      val all = items(feed.file)
      assertEquals(all.size, feed.entries)
      for first <- all.headOption do
        assertEquals(first.url.map(_.trim), feed.link)
        assertEquals(first.publishedAt.map(_ / 1000), feed.published)
        if !feed.title.contains(anything) then assertEquals(first.title, feed.title)

  /** A title that depends on a guess. */
  private def anything = "*"
