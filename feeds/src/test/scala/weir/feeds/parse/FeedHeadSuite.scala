package weir.feeds.parse

import java.nio.charset.StandardCharsets.UTF_8
import java.time.DayOfWeek
import scala.concurrent.duration.*

import munit.FunSuite

import weir.feeds.input.FeedUrl
import weir.feeds.store.{FeedAbout, SkippedTimes}

/** Tests the parts of feeds besides their entries, in all formats. */
class FeedHeadSuite extends FunSuite:
  private val here = FeedUrl.parse("http://a.example/feeds/one").toOption.get

  private def head(text: String): FeedHead =
    ParsedFeed.parse(text.getBytes(UTF_8), None, here) match
      case Right(feed: ParsedFeed.Feed) => feed.head
      case other => fail(other.toString)

  private def rss(fields: String) =
    s"""<rss version="2.0" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"
       |xmlns:sy="http://purl.org/rss/1.0/modules/syndication/" xmlns:dc="http://purl.org/dc/elements/1.1/"
       |xmlns:atom="http://www.w3.org/2005/Atom"><channel><title>T</title>$fields
       |<item><title>1</title><link>/1</link></item></channel></rss>""".stripMargin

  for (name, text) <- List(
      "RSS 2.0" -> rss(
        """<atom:link rel="self" href="/feed"/><link>/</link><language>en-gb</language>
          |<image><url>/p.png</url><title>T</title><link>/</link></image>""".stripMargin
      ),
      "RSS with the elements of podcasts" -> rss(
        """<link>http://a.example/</link><dc:language>en-gb</dc:language>
          |<itunes:image href="/p.png"/>""".stripMargin
      ),
      "RSS 1.0" ->
        """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
          | xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns="http://purl.org/rss/1.0/">
          |<channel rdf:about="http://a.example/rss"><title>T</title><link>http://a.example/</link>
          |<dc:language>en-gb</dc:language><image rdf:resource="/p.png"/></channel>
          |<image rdf:about="/p.png"><title>T</title><url>http://a.example/p.png</url></image>
          |<item><title>1</title></item></rdf:RDF>""".stripMargin,
      "Atom" ->
        """<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en-gb"><title>T</title>
          |<link rel="self" href="/feed"/><link href="/"/><logo>/p.png</logo><icon>/i.png</icon>
          |<entry><title>1</title></entry></feed>""".stripMargin,
      "JSON Feed" ->
        """{"version":"https://jsonfeed.org/version/1.1","title":"T","language":"en-gb",
          |"home_page_url":"http://a.example/","icon":"p.png","favicon":"i.png","items":[]}""".stripMargin
          .replace("\"p.png", "\"/p.png")
    )
  do
    test(s"$name says where its page is, its language and its picture"):
      val about = FeedAbout(
        title = Some("T"),
        home = Some("http://a.example/"),
        language = Some("en-gb"),
        picture = Some("http://a.example/p.png")
      )
      assertEquals(head(text).about, about)

  test("a feed that says nothing has nothing, and not what its items say"):
    val item = """<item><link>/1</link><itunes:image href="/i.png"/></item>"""
    assertEquals(head(rss(item)), FeedHead(FeedAbout(Some("T"))))

  test("skipHours and skipDays are the times at which a feed is not to be fetched"):
    def skips(fields: String) = head(rss(fields)).skips
    val hours =
      "<skipHours><hour>0</hour><hour> 7 </hour><hour>24</hour><hour>25</hour></skipHours>"
    assertEquals(skips(hours), SkippedTimes.of(Set(0, 7), Set.empty))
    val days = "<skipDays><day>Saturday</day><day>sunday</day><day>never</day></skipDays>"
    val weekend = Set(DayOfWeek.SATURDAY, DayOfWeek.SUNDAY)
    assertEquals(skips(days + hours), SkippedTimes.of(Set(0, 7), weekend))

  test("the period of updates is how long a feed asks to be left alone, as ttl is"):
    def ttl(fields: String) = head(rss(fields)).ttl
    def period(name: String) = s"<sy:updatePeriod> $name\n</sy:updatePeriod>"
    def frequency(times: String) = s"<sy:updateFrequency>$times</sy:updateFrequency>"
    assertEquals(ttl(period("hourly")), Some(1.hour))
    assertEquals(ttl(period("daily") + frequency("4")), Some(6.hours))
    assertEquals(ttl(period("weekly") + frequency("0")), Some(1.day))
    assertEquals(ttl(period("Hourly") + frequency("2") + "<ttl>60</ttl>"), Some(1.hour))
    assertEquals(ttl(period("daily") + "<ttl>60</ttl>"), Some(1.day))
    assertEquals(ttl(period("sometimes") + frequency("2")), None)

  test("the address that a feed says that it has moved to is read"):
    assertEquals(
      head(rss("<itunes:new-feed-url> /new </itunes:new-feed-url>")).newUrl,
      Some("/new")
    )
    assertEquals(head(rss("<itunes:new-feed-url/>")).newUrl, None)
