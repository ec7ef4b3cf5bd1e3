package weir.feeds.input

import java.nio.charset.Charset
import java.nio.charset.StandardCharsets.{ISO_8859_1, UTF_16, UTF_16BE, UTF_16LE}
import java.nio.file.{Files, Path}

import munit.FunSuite

import weir.program.{BadInput, TempFolder}

class OpmlSuite extends FunSuite with TempFolder:
  private def opml(body: String) =
    s"""<?xml version="1.0"?>
       |<opml version="2.0"><head><title>Mine</title></head><body>
       |$body
       |</body></opml>""".stripMargin

  private def read(folder: Path, text: String): FeedList =
    Opml.read(write(folder, "subs.opml", text))

  private def urls(list: FeedList) = list.feeds.map(_.url.text)

  private def places(list: FeedList) =
    list.problems.map(_.place.replaceFirst(".*/subs.opml", "subs.opml"))

  folder.test("feeds are found at any depth, each address once"): folder =>
    val body =
      """<outline text="A"><outline text="B">
        |  <outline type="rss" text="One" xmlUrl="http://one.example/feed"/>
        |</outline></outline>
        |<outline title="Two" text="x" xmlurl=" https://two.example "/>
        |<outline xmlUrl="http://ONE.example/feed"/>""".stripMargin
    val list = read(folder, opml(body))
    assertEquals(
      list.feeds.map(feed => (feed.url.text, feed.title)),
      Vector(
        ("http://one.example/feed", Some("One")),
        ("https://two.example/", Some("Two"))
      )
    )
    assertEquals(list.problems, Vector.empty)

  folder.test("a feed in a feed, in 1,000 folders, and under a name space is found"): folder =>
    val deep = "<outline text='x'>" * 1000 + "<outline xmlUrl='http://deep.example'/>" +
      "</outline>" * 1000
    val nested = "<outline xmlUrl='http://a.example'><outline xmlUrl='http://b.example'/></outline>"
    val prefixed = "<o:outline xmlns:o='urn:x' xmlUrl='http://c.example'/>"
    val list = read(folder, opml(deep + nested + prefixed))
    val found = List("deep", "a", "b", "c").map(name => s"http://$name.example/").toVector
    assertEquals(urls(list), found)
    assertEquals(list.problems, Vector.empty)

  folder.test("a bad address, and a feed without one, are named by line and skipped"): folder =>
    val body =
      """<outline xmlUrl="feed:x"/>
        |<outline text="a folder"/>
        |<outline type="RSS" text="no address"/>
        |<outline type="rss" xmlUrl="http://good.example/"/>
        |<outline type="link" url="http://page.example/"/>""".stripMargin
    val list = read(folder, opml(body))
    assertEquals(urls(list), Vector("http://good.example/"))
    assertEquals(places(list), Vector("subs.opml:3", "subs.opml:5"))

  folder.test("a file without a good feed has its problems"): folder =>
    val list = read(folder, opml("<outline type='rss'/>"))
    assertEquals((urls(list), places(list)), (Vector.empty, Vector("subs.opml:3")))

  folder.test("addresses are taken as readers take them"): folder =>
    val body =
      """<outline type="rss" url="http://a.example/"/>
        |<outline type="rss" xmlUrl="" url="http://b.example/"/>
        |<outline xmlUrl="feed://c.example/"/>
        |<outline xmlUrl="d.example/feed"/>""".stripMargin
    assertEquals(
      urls(read(folder, opml(body))),
      Vector(
        "http://a.example/",
        "http://b.example/",
        "http://c.example/",
        "https://d.example/feed"
      )
    )

  folder.test("a bare ampersand, entities of HTML and unclosed tags lose nothing"): folder =>
    val body =
      """<outline title="R&D" xmlUrl="http://a.example/?x=1&y=2&copy=3&lt=4&amp;z">
        |<outline title="Caf&eacute; &mdash; &nosuch;" xmlUrl="http://b.example/">
        |<outline title="a < b" xmlUrl='http://c.example/'/>""".stripMargin
    val list = read(folder, opml(body))
    assertEquals(
      list.feeds.map(feed => (feed.url.text, feed.title.get)),
      Vector(
        ("http://a.example/?x=1&y=2&copy=3&lt=4&z", "R&D"),
        ("http://b.example/", "Café — &nosuch;"),
        ("http://c.example/", "a < b")
      )
    )

  folder.test("a file that ends in the middle says so, and gives what is there"): folder =>
    val whole = opml("<outline xmlUrl='http://a.example/'/>\n<outline xmlUrl='http://b.example/'/>")
    val end = whole.indexOf("b.example")
    val list = read(folder, whole.take(end))
    assertEquals((urls(list), places(list)), (Vector("http://a.example/"), Vector("subs.opml:4")))
    assertEquals(read(folder, whole).problems, Vector.empty)

  folder.test("what is before the root does not matter"): folder =>
    val list =
      read(folder, "\n<b>Warning</b>: php\n" + opml("<outline xmlUrl='http://a.example/'/>"))
    assertEquals(urls(list), Vector("http://a.example/"))

  folder.test("the encoding is found out, and a guess is told"): folder =>
    def titles(text: String, encoding: Charset): (Vector[String], Int) =
      val file = Files.write(folder.resolve("subs.opml"), text.getBytes(encoding))
      val list = Opml.read(file)
      (list.feeds.flatMap(_.title), list.problems.size)
    val outline = "<outline title='Café' xmlUrl='http://a.example/'/>"
    val plain = s"<opml>$outline</opml>"
    for encoding <- List("UTF-8", "ISO-8859-1", "UTF-16") do
      val text = s"<?xml version='1.0' encoding='$encoding'?>\n$plain"
      assertEquals(titles(text, Charset.forName(encoding)), (Vector("Café"), 0), encoding)
    assertEquals(titles("\uFEFF" + plain, Charset.forName("UTF-8")), (Vector("Café"), 0))
    for encoding <- List(UTF_16, UTF_16BE, UTF_16LE) do
      assertEquals(titles(plain, encoding), (Vector("Café"), 0), encoding)
    assertEquals(titles(plain, ISO_8859_1), (Vector("Café"), 1))
    for (label, encoding) <- List("gb2312" -> "GBK", "x-sjis" -> "windows-31j", "L1" -> "UTF-8") do
      val text =
        s"<?xml version='1.0' encoding='$label'?>\n<opml>${outline.replace("Café", "囍 髙")}</opml>"
      if Charset.forName(encoding).newEncoder.canEncode(text) then
        assertEquals(titles(text, Charset.forName(encoding)), (Vector("囍 髙"), 0), label)
    val wronglyNamed = s"<?xml version='1.0' encoding='us-ascii'?>\n$plain"
    assertEquals(titles(wronglyNamed, Charset.forName("UTF-8")), (Vector("Café"), 0))

  folder.test("other XML, no XML, and OPML without feeds, are refused"): folder =>
    for (text, problem) <- List(
        "<rss/>" -> "<rss>",
        "<html><outline xmlUrl='http://a.example/'/></html>" -> "<html>",
        "no XML" -> "no element",
        "" -> "no element",
        opml("<outline text='empty'/>") -> "no outline"
      )
    do
      val bad = intercept[BadInput](read(folder, text))
      assert(bad.problem.contains(problem), bad.problem)

  folder.test("nothing outside the file is read, and entities do not grow"): folder =>
    val secret = write(folder, "secret.txt", "http://secret.example/")
    val text =
      s"""<!DOCTYPE opml [<!ENTITY x SYSTEM "${secret.toUri}"><!ENTITY y "yyyyyyyyyy">
         |<!ENTITY z "&y;&y;&y;&y;">]>
         |<opml><body><outline text="&x;&z;" xmlUrl="http://a.example/"/></body>
         |</opml>""".stripMargin
    assertEquals(read(folder, text).feeds.map(_.title), Vector(Some("&x;&z;")))
