package weir.feeds.site

import java.io.ByteArrayOutputStream
import java.nio.charset.StandardCharsets.{ISO_8859_1, UTF_8}
import java.time.format.DateTimeFormatter
import java.time.{Instant, ZoneOffset}
import java.util.zip.GZIPOutputStream

/** The XML of the feeds of the local site, right and wrong. */
private[site] object SiteXml:
  /** The day of the newest item of every feed; fixed, so that a feed is the same in every run. */
  val newest: Instant = Instant.parse("2026-03-01T12:00:00Z")

  def httpDate(time: Instant): String =
    DateTimeFormatter.RFC_1123_DATE_TIME.format(time.atOffset(ZoneOffset.UTC))

  /** Returns the body that `feed` answers with; `secret` is an address that must never be
    * requested.
    */
  def body(feed: PlannedFeed, secret: String): Array[Byte] =
    if feed.kind == Kind.Large then large else usual(feed, secret)

  private def usual(feed: PlannedFeed, secret: String): Array[Byte] =
    val xml = document(feed)
    feed.kind match
      case Kind.Malformed => brokenScript.getBytes(UTF_8)
      case Kind.NotQuiteXml =>
        xml.replaceFirst("<title>", "<title>Tea & scones&nbsp;").getBytes(UTF_8)
      case Kind.Truncated => xml.take(xml.length * 2 / 3).getBytes(UTF_8)
      case Kind.WrongEncoding => xml.getBytes(ISO_8859_1)
      case Kind.UnknownEncoding =>
        xml.replace("encoding=\"UTF-8\"", "encoding=\"x-klingon\"").getBytes(ISO_8859_1)
      case Kind.ExternalEntity => withEntities(feed, xml, external(secret))
      case Kind.EntityBomb => withEntities(feed, xml, bomb)
      case Kind.GzipBomb => (xml + " " * bombBytes).getBytes(UTF_8)
      case _ => xml.getBytes(UTF_8)

  def gzip(bytes: Array[Byte]): Array[Byte] =
    val out = ByteArrayOutputStream()
    val packed = GZIPOutputStream(out)
    packed.write(bytes)
    packed.close()
    out.toByteArray

  /** Returns the beginning of an endless or huge body, and the part that is repeated. */
  def opening: Array[Byte] = """<?xml version="1.0"?><rss version="2.0"><channel>""".getBytes(UTF_8)
  val filler: Array[Byte] = ("<item><title>and so on</title></item>" * 800).getBytes(UTF_8)

  /** The output of a program that fails instead of printing the feed. */
  private val brokenScript =
    """<?xml version="1.0"?>
      |<br /><b>Fatal error</b>: Allowed memory size exhausted in /srv/feed.php on line 12<br />
      |""".stripMargin

  /** One for all feeds, so that the site itself takes little of the memory that is measured. */
  private lazy val large: Array[Byte] =
    val feed = PlannedFeed(0, Kind.Large, false, false, false, 0, 0, items = 0)
    val item = rssItem(feed, 1).getBytes(UTF_8).length
    document(feed.copy(items = largeBytes / item)).getBytes(UTF_8)

  private val largeBytes = 7_000_000

  private val bombBytes = 15_000_000

  /** Returns the document, with accents, which a wrong encoding would spoil. */
  private def document(feed: PlannedFeed): String =
    if feed.isAtom then atom(feed) else rss(feed)

  private def rss(feed: PlannedFeed): String =
    val items = (1 to feed.items).map(rssItem(feed, _))
    s"""<?xml version="1.0" encoding="UTF-8"?>
       |<rss version="2.0">
       |  <channel>
       |    <title>Café ${feed.id}</title>
       |    <link>http://${LocalSite.host}/</link>
       |    <description>A feed of the local site</description>
       |${items.mkString("\n")}
       |  </channel>
       |</rss>
       |""".stripMargin

  private def rssItem(feed: PlannedFeed, number: Int): String =
    s"""    <item>
       |      <title>Élan no. $number of feed ${feed.id}</title>
       |      <link>${link(feed, number)}</link>
       |      <guid>${link(feed, number)}</guid>
       |      <pubDate>${httpDate(published(number))}</pubDate>
       |      <description>$summary</description>
       |    </item>""".stripMargin

  private def atom(feed: PlannedFeed): String =
    val entries = (1 to feed.items).map: number =>
      s"""  <entry>
         |    <title>Élan no. $number of feed ${feed.id}</title>
         |    <link href="${link(feed, number)}"/>
         |    <id>${link(feed, number)}</id>
         |    <updated>${published(number)}</updated>
         |    <summary>$summary</summary>
         |  </entry>""".stripMargin
    s"""<?xml version="1.0" encoding="UTF-8"?>
       |<feed xmlns="http://www.w3.org/2005/Atom">
       |  <title>Café ${feed.id}</title>
       |  <id>http://${LocalSite.host}/${feed.id}</id>
       |  <updated>$newest</updated>
       |${entries.mkString("\n")}
       |</feed>
       |""".stripMargin

  private def link(feed: PlannedFeed, number: Int): String =
    s"http://${LocalSite.host}/items/${feed.id}/$number"

  private def published(number: Int): Instant = newest.minusSeconds(number * 3600L)

  private val summary = "A naïve résumé of what happened. " * 8

  /** Returns the document with a DOCTYPE, and a reference to its entity `x` in the title. */
  private def withEntities(feed: PlannedFeed, xml: String, entities: String): Array[Byte] =
    val root = if feed.isAtom then "feed" else "rss"
    xml
      .replaceFirst(s"<$root", s"<!DOCTYPE $root [$entities]>\n<$root")
      .replaceFirst("<title>", "<title>&x;")
      .getBytes(UTF_8)

  private def external(secret: String): String = s"""<!ENTITY x SYSTEM "$secret">"""

  /** Nine levels of ten: a thousand million letters, were it expanded. */
  private val bomb: String =
    val levels = (1 to 9).map: level =>
      val inner = if level == 1 then "l" else s"&e${level - 1};"
      s"""<!ENTITY e$level "${inner * 10}">"""
    levels.mkString + """<!ENTITY x "&e9;">"""
