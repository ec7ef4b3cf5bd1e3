package weir.feeds.reader

import java.time.Instant

import munit.FunSuite

import weir.feeds.store.{Enclosure, FeedAbout, ItemQuery, ListedItem}

class ItemLinesSuite extends FunSuite:
  private val lines = ItemLines(LocalTime(ReaderFixture.zone))
  private val at = Instant.parse("2026-03-01T12:00:00Z").toEpochMilli
  private val item = ListedItem(
    id = 7,
    feedId = 1,
    feedUrl = "https://a.example/feed",
    feedTitle = Some("A blog"),
    url = Some("https://a.example/7"),
    title = Some("Tom & <Jerry>"),
    publishedAt = Some(at),
    firstSeenAt = at + 60_000,
    changedAt = Some(at + 120_000),
    opening = None
  )
  private val hostile = "a\u001b[2J\u009b31m\u202eb\r\nc\td"

  test("on a terminal: local date, title and feed within the width, and the whole link"):
    assertEquals(
      lines.forTerminal(item, 80),
      "2026-03-01 17:30  Tom & <Jerry> · A blog\n                  https://a.example/7\n"
    )
    val long = item.copy(title = Some("漢字 word " * 40), feedTitle = Some("feed " * 40))
    for columns <- 51 to 140 do
      val first = lines.forTerminal(long, columns).linesIterator.next()
      assert(PlainText.width(first) <= columns, s"$columns: $first")
      assert(first.contains("… · "), first)

  test("in a pipe: four fields, and no more, whatever is in them"):
    assertEquals(
      lines.withTabs(item),
      "2026-03-01T17:30:00+05:30\tA blog\tTom & <Jerry>\thttps://a.example/7\n"
    )
    val bad = item.copy(title = Some(hostile), feedTitle = Some(hostile), url = Some(hostile))
    val line = lines.withTabs(bad)
    assertEquals(line.split('\t').length, 4)
    assertEquals(line.count(_ == '\n'), 1)

  test("what is missing is replaced by what there is"):
    val bare = item.copy(title = Some("\u200b"), feedTitle = None, publishedAt = None)
    assertEquals(
      lines.withTabs(bare),
      "2026-03-01T17:31:00+05:30\thttps://a.example/feed" + "\thttps://a.example/7" * 2 + "\n"
    )
    val empty = lines.forTerminal(item.copy(title = None, url = None), 80)
    assertEquals(empty, "2026-03-01 17:30  (no title) · A blog\n")

  test("an item without a title is called by how its text begins"):
    val post =
      item.copy(title = None, opening = Some("<p>One &amp; <b>two</b></p><a href=\"http://b"))
    assertEquals(lines.withTabs(post).split('\t')(2), "One & two")
    val long = post.copy(opening = Some(s"<p>${"word " * 100}"))
    assertEquals(lines.withTabs(long).split('\t')(2), s"${"word " * 19}word…")
    assertEquals(
      lines.withTabs(post.copy(opening = Some("<img src=x>"))).split('\t')(2),
      post.url.get
    )

  test("JSON has what the database has, and no control character either"):
    val details = ItemQuery.Details(
      summary = Some(s"<p>$hostile</p>\u007f"),
      content = None,
      authors = Vector("Ann", hostile),
      categories = Vector("c"),
      enclosures = Vector(
        Enclosure("http://a.example/1.mp3", Some("audio/mpeg"), Some(5_000_000_000L), Some(61)),
        Enclosure("http://a.example/2", None, None, None)
      ),
      feed = FeedAbout(Some("A blog"), Some("https://a.example/"), Some("en"), None)
    )
    val line = lines.json(item.copy(title = Some(hostile)), details)
    val json = ujson.read(line)
    assertEquals(json("title").str, hostile)
    assertEquals(json("summary").str, s"<p>$hostile</p>\u007f")
    assertEquals(json("content"), ujson.Null)
    assertEquals(json("feed")("url").str, "https://a.example/feed")
    assertEquals(
      json("feed"),
      ujson.read("""{"url":"https://a.example/feed","title":"A blog","home":"https://a.example/",
        |"language":"en","picture":null}""".stripMargin)
    )
    assertEquals(json("published").str, "2026-03-01T17:30:00+05:30")
    assertEquals(json("changed").str, "2026-03-01T17:32:00+05:30")
    assertEquals(json("authors").arr.map(_.str).toVector, details.authors)
    assertEquals(json("categories").arr.map(_.str).toVector, details.categories)
    assertEquals(
      json("enclosures"),
      ujson.read("""[{"url":"http://a.example/1.mp3","type":"audio/mpeg","length":5000000000,
        |"duration":61},{"url":"http://a.example/2","type":null,"length":null,"duration":null}]
        |""".stripMargin)
    )
    assertEquals(line.filter(char => char < ' ' || char >= 0x7f), "\n")

  test("a date that no calendar has is shown as the nearest that one has"):
    for (millis, year) <- Seq(Long.MaxValue -> "9999-", Long.MinValue -> "0001-") do
      val shown = lines.withTabs(item.copy(publishedAt = Some(millis)))
      assert(shown.startsWith(year), shown)
