package weir.feeds

import java.io.{PrintWriter, StringWriter}
import java.nio.charset.Charset
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}
import java.util.concurrent.FutureTask
import scala.concurrent.duration.*

import munit.FunSuite

import weir.program.{ChildJvm, Main, TempFolder, Tier}

/** Feeds whose items change from check to check, by the program as a user runs it. */
class ChangedItemsSuite extends FunSuite with TempFolder:
  override def munitTimeout: Duration = 4.minutes

  private final class Site(folder: Path) extends AutoCloseable:
    val server: ChangingServer = ChangingServer()
    private val db = folder.resolve("feeds.db").toString
    private val list = Files.writeString(folder.resolve("urls.txt"), server.address("/feed"))

    val args: Seq[String] = Seq("--db", db, "--urls", list.toString, "--stale", "0s")

    def serve(item: String): Unit =
      server.body = s"""<rss version="2.0"><channel><title>T</title><item><guid>1</guid>$item</item>
        |</channel></rss>""".stripMargin.getBytes(UTF_8)

    def fetch(): Unit = weir(args*): Unit

    /** The items as `items --json` prints them. */
    def items: Vector[ujson.Value] =
      weir("items", "--db", db, "--json").linesIterator.map(ujson.read(_)).toVector

    def close(): Unit = server.close()

  private def weir(args: String*): String =
    val (out, err) = (StringWriter(), StringWriter())
    val code = Main.run("feeds" +: args, PrintWriter(out, true), PrintWriter(err, true))
    assertEquals(code, 0, err.toString)
    out.toString

  private def withSite(folder: Path)(body: Site => Unit): Unit =
    val site = Site(folder)
    try body(site)
    finally site.close()

  folder.test("an item that changes five times is in the database as it was last"): folder =>
    withSite(folder): site =>
      for round <- 1 to 5 do
        site.serve(s"<title>v$round</title><description>text $round</description>")
        site.fetch()
        val Vector(item) = site.items: @unchecked
        assertEquals((item("title").str, item("summary").str), (s"v$round", s"text $round"))
        assertEquals(item("changed").isNull, round == 1)
      val before = site.items
      site.serve("<title> v5\n</title><description>text\n5</description>")
      site.fetch()
      assertEquals(site.items, before)

  folder.test("an item that changes again and again is as it was last, over two runs too"):
    folder =>
      withSite(folder): site =>
        site.serve("<title>v0</title>")
        site.fetch()
        for round <- 1 to 5 do
          site.serve(s"<title>v$round</title>")
          if Tier.isLong then
            val both = List(1, 2).map: number =>
              ChildJvm.weir(folder.resolve(s"log$round-$number.txt"), ("feeds" +: site.args)*)
            val texts = both.map(_.readRest())
            assertEquals(both.map(_.exitCode()), List(0, 0), texts.mkString("\n"))
          else
            // To the database each run is another one, whatever its process.
            val both = List.fill(2)(FutureTask(() => site.fetch()))
            both.foreach(Thread.ofPlatform().start(_): Unit)
            both.foreach(_.get(): Unit)
          assertEquals(site.items.map(_("title").str), Vector(s"v$round"))
          assert(!site.items.head("changed").isNull)

  folder.test("what a server labelled wrongly is mended once it labels it rightly"): folder =>
    withSite(folder): site =>
      site.serve("<title>朱镕基</title>")
      val right = site.server.body
      site.server.body = String(right, UTF_8).getBytes(Charset.forName("GBK"))
      site.server.contentType = "text/xml; charset=windows-1251"
      site.fetch()
      assertNotEquals(site.items.head("title").str, "朱镕基")
      site.server.contentType = "text/xml; charset=gb2312"
      site.fetch()
      assertEquals(site.items.map(_("title").str), Vector("朱镕基"))

  folder.test("what a feed and its items say is all in the JSON"): folder =>
    withSite(folder): site =>
      site.serve(
        """<title>1</title><link>/1</link><author>a@b.example (Ann)</author>
        |<category>c</category><enclosure url="/1.mp3" type="audio/mpeg" length="9"/>""".stripMargin
      )
      val head = "<link>/</link><language>en</language><image><url>/p.png</url></image><item>"
      site.server.body = String(site.server.body, UTF_8).replace("<item>", head).getBytes(UTF_8)
      site.fetch()
      val Vector(item) = site.items: @unchecked
      val feed = item("feed")
      assertEquals(feed("home").str, site.server.address("/"))
      assertEquals(
        (feed("language").str, feed("picture").str),
        ("en", site.server.address("/p.png"))
      )
      assertEquals(item("authors"), ujson.Arr("Ann"))
      assertEquals(item("categories"), ujson.Arr("c"))
      val file = item("enclosures").arr.head
      assertEquals(file("url").str, site.server.address("/1.mp3"))
      assertEquals(
        (file("type").str, file("length").num, file("duration")),
        ("audio/mpeg", 9.0, ujson.Null)
      )

  folder.test("a feed that says that it has moved is fetched at its new address from then on"):
    folder =>
      withSite(folder): site =>
        site.serve("<title>1</title>")
        val there = site.server.address("/new")
        val announced = s"<itunes:new-feed-url>$there</itunes:new-feed-url><item>"
        site.server.body =
          String(site.server.body, UTF_8).replace("<item>", announced).getBytes(UTF_8)
        site.fetch()
        assertEquals(site.items.map(_("feed")("url").str), Vector(there))
        site.fetch()
        assertEquals(site.items.size, 1)
