package weir.feeds.parse

import java.nio.charset.StandardCharsets.UTF_8
import scala.concurrent.duration.*

import munit.FunSuite

import weir.feeds.fetch.Reason
import weir.feeds.input.FeedUrl
import weir.feeds.store.{Item, ItemName}

/** The formats that feeds have, and the ways in which they miss them. */
class XmlFeedSuite extends FunSuite:
  private val here = FeedUrl.parse("http://a.example/feeds/one").toOption.get

  private def parsed(xml: String): ParsedFeed.Feed =
    ParsedFeed.parse(xml.getBytes(UTF_8), None, here) match
      case Right(feed: ParsedFeed.Feed) => feed
      case other => fail(other.toString)

  private def items(xml: String): Vector[Item] = parsed(xml).items

  private def rss(item: String, version: String = """version="2.0"""") =
    s"""<rss $version><channel><title>T</title><ttl>90</ttl>$item</channel></rss>"""

  private def atom(entry: String) =
    s"""<feed xmlns="http://www.w3.org/2005/Atom"><title>T</title>$entry</feed>"""

  private def titles(xml: String) = items(xml).map(_.title.getOrElse("-"))

  private val two = "<item><title>1</title></item><item><title>2</title></item>"
  private val oneAndTwo = Vector("1", "2")

  for (name, xml) <- List(
      "RSS 2.0" -> rss(two),
      "RSS 0.91 to 0.94, without a version" -> rss(two, ""),
      "RSS 2.0 in a namespace" ->
        rss(two, """version="2.0" xmlns="http://backend.userland.com/rss2""""),
      "RSS with another name for its prefix" ->
        s"""<r:rss xmlns:r="http://blogs.law.harvard.edu/tech/rss"><r:channel>${two
            .replace("<", "<r:")
            .replace("<r:/", "</r:")}</r:channel></r:rss>""",
      "RSS in capitals" -> rss(two).toUpperCase,
      "RSS with its items beside the channel" ->
        s"<rss><channel><title>T</title></channel>$two</rss>",
      "RSS 1.0" ->
        s"""<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
           | xmlns="http://purl.org/rss/1.0/"><channel><title>T</title></channel>
            |$two</rdf:RDF>""".stripMargin,
      "RSS 0.90" ->
        s"""<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
           | xmlns="http://my.netscape.com/rdf/simple/0.9/"><channel/>$two</rdf:RDF>""".stripMargin,
      "RSS of RDF with an unknown namespace" ->
        s"""<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
           | xmlns="http://purl.org/net/my-rss/"><channel/>$two</rdf:RDF>""".stripMargin,
      "RSS 1.1" ->
        s"""<Channel xmlns="http://purl.org/net/rss1.1#"><title>T</title>
           |<items>$two</items></Channel>""".stripMargin,
      "CDF" ->
        """<CHANNEL HREF="http://a.example/"><ITEM HREF="/1"><TITLE>1</TITLE></ITEM>
          |<ITEM HREF="/2"><TITLE>2</TITLE></ITEM></CHANNEL>""".stripMargin,
      "Atom 1.0" -> atom(two.replace("item", "entry")),
      "Atom 0.3" ->
        s"""<feed version="0.3" xmlns="http://purl.org/atom/ns#">${two
            .replace("item", "entry")}</feed>""",
      "Atom without a namespace" -> s"<feed>${two.replace("item", "entry")}</feed>",
      "Atom with a wrong namespace" ->
        s"""<feed xmlns="http://a.example/ns">${two.replace("item", "entry")}</feed>""",
      "Atom with a prefix" ->
        s"""<a:feed xmlns:a="http://www.w3.org/2005/Atom">${two
            .replace("item", "entry")
            .replace("<", "<a:")
            .replace("<a:/", "</a:")}</a:feed>""",
      "a prefix that is never bound" -> rss(
        two.replace("<title", "<dc:title").replace("</title", "</dc:title")
      ),
      "HTML entities" -> rss(
        two.replace("</item>", "<description>a&nbsp;b&eacute;</description></item>")
      ),
      "a bare ampersand" -> rss(two.replace("</item>", "<link>/?a=1&b=2</link></item>")),
      "a control character" -> rss(
        two.replace("</item>", "<description>a\u000bb</description></item>")
      ),
      "text before the document" -> s"Warning: cache is old\n${rss(two)}",
      "text behind the document" -> s"${rss(two)}\n<script>track()</script> bye",
      "white space before the XML declaration" -> s"\n  <?xml version='1.0'?>${rss(two)}",
      "an attribute without quotes" -> rss(two, "version=2.0"),
      "an attribute twice" -> rss(two, """version="2.0" version="2.0""""),
      "tags of HTML that do not end" ->
        rss(two.replace("</item>", "<description>a<br>b<p>c</description></item>")),
      "end tags in other letters" -> rss(two.replace("</title>", "</TITLE>")),
      "a title that does not end" -> rss(two.replace("2</title>", "2"))
    )
  do test(s"$name is read")(assertEquals(titles(xml), oneAndTwo))

  test("a feed that is cut off gives the items that are whole, and says so"):
    val feed = parsed(rss(two + "<item><title>3</title><descr").replace("</channel></rss>", ""))
    assertEquals(feed.items.flatMap(_.title), oneAndTwo)
    assertEquals(feed.reason, Reason.Truncated)
    assertEquals(parsed(rss(two).stripSuffix("</rss>")).items.size, 2)

  test("what had to be put up with is said"):
    assertEquals(parsed(rss(two)).reason, Reason.Fetched)
    val feed = parsed(rss(two + "&"))
    assertEquals(feed.reason, Reason.Recovered)
    assert(feed.note.exists(_.contains("line 1, column")), feed.note)

  test("entities of HTML and bare ampersands mean what browsers take them for"):
    val Vector(item) =
      items(rss("<item><title>caf&eacute; &amp; tea & more</title></item>")): @unchecked
    assertEquals(item.title, Some("café & tea & more"))

  test("an entity that its missing DTD would define is the one of HTML"):
    val doctype =
      """<!DOCTYPE rss PUBLIC "-//N//DTD RSS 0.91//EN" "http://a.example/rss-0.91.dtd">"""
    val feed = parsed(doctype + rss("<item><title>caf&eacute;</title></item>"))
    assertEquals(feed.items.head.title, Some("café"))

  test("ttl is in minutes, and only a sensible one counts"):
    assertEquals(parsed(rss(two)).head.ttl, Some(90.minutes))
    for text <- List("0", "-5", "soon", "1441") do
      assertEquals(parsed(rss(two).replace(">90<", s">$text<")).head.ttl, None)

  test("links are resolved against xml:base, and else against the feed's own address"):
    val feed = """<feed xmlns="http://www.w3.org/2005/Atom" xml:base="http://b.example/x/">
      |<entry><id>1</id><link href="one"/></entry>
      |<entry xml:base="y/"><id>2</id><link href="two"/></entry></feed>""".stripMargin
    assertEquals(
      items(feed).flatMap(_.url),
      Vector("http://b.example/x/one", "http://b.example/x/y/two")
    )
    assertEquals(
      items(rss("<item><link>three</link></item><item><link>/four</link></item>")).flatMap(_.url),
      Vector("http://a.example/feeds/three", "http://a.example/four")
    )

  test("links in texts are resolved, too, and the rest of the text is as it was"):
    val html = """<p>x<a href="p.html">p</a><img src="/i.png"><a href="#top">top</a></p>"""
    val Vector(item) =
      items(rss(s"<item><description><![CDATA[$html]]></description></item>")): @unchecked
    assertEquals(
      item.summary,
      Some(
        """<p>x<a href="http://a.example/feeds/p.html">p</a>""" +
          """<img src="http://a.example/i.png"><a href="#top">top</a></p>"""
      )
    )
    val absolute = "<P>odd <B>HTML<a href='http://b.example/'>b</a>"
    val kept = items(rss(s"<item><description><![CDATA[$absolute]]></description></item>"))
    assertEquals(kept.head.summary, Some(absolute))

  for (name, fields, url) <- List(
      (
        "its link",
        "<link>http://b.example/l</link><guid>http://b.example/g</guid>",
        "http://b.example/l"
      ),
      ("else its permanent guid", "<guid>http://b.example/g</guid>", "http://b.example/g"),
      (
        "the page and not the feed of Atom's links",
        """<a:link xmlns:a="http://www.w3.org/2005/Atom" rel="self" href="/self"/>""" +
          "<link>/page</link>",
        "http://a.example/page"
      ),
      (
        "else the file that it is about",
        """<enclosure url="/pod.mp3"/>""",
        "http://a.example/pod.mp3"
      )
    )
  do
    test(s"an item leads to $name"):
      assertEquals(items(rss(s"<item>$fields</item>")).head.url, Some(url))

  test("a guid that is not permanent is no link"):
    val item = """<item><guid isPermaLink="false">http://b.example/g</guid></item>"""
    assertEquals(items(rss(item)).head.url, None)

  test("of Atom's links the page for people counts"):
    val entry = """<entry><link rel="self" href="/s"/><link rel="replies" href="/r"/>
      |<link rel="alternate" type="application/json" href="/j"/>
      |<link rel="alternate" type="text/html" href="/h"/></entry>""".stripMargin
    assertEquals(items(atom(entry)).head.url, Some("http://a.example/h"))

  test("content is read where there is one, whatever its length"):
    def read(fields: String) = items(rss(s"<item>$fields</item>")).head
    def encoded(text: String) = s"<content:encoded><![CDATA[$text]]></content:encoded>"
    val both = read(s"<description>short</description>${encoded("<p>long text</p>")}")
    assertEquals((both.summary, both.content), (Some("short"), Some("<p>long text</p>")))
    val same = read(s"<description>the same text</description>${encoded("the same text")}")
    assertEquals((same.summary, same.content), (Some("the same text"), Some("the same text")))
    val shorter = read(s"<description>a long description</description>${encoded("text")}")
    assertEquals((shorter.summary, shorter.content), (Some("a long description"), Some("text")))
    val only = read(encoded("<p>all</p>"))
    assertEquals((only.summary, only.content), (None, Some("<p>all</p>")))
    assertEquals(read(encoded("<p>all</p>")).guid, ItemName.of(None, None, None, only.content))

  for (name, content, html) <- List(
      (
        "html",
        """<content type="html">&lt;b&gt;x&lt;/b&gt; &amp;amp; y</content>""",
        "<b>x</b> &amp; y"
      ),
      ("text", """<content type="text">a &lt;b&gt; c &amp; d</content>""", "a &lt;b&gt; c &amp; d"),
      (
        "xhtml",
        """<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml">""" +
          """<b>x</b><br/>&amp;</div></content>""",
        "<b>x</b><br>&amp;"
      ),
      (
        "base64 of Atom 0.3",
        """<content mode="base64" type="text/html">PGI+eDwvYj4=</content>""",
        "<b>x</b>"
      ),
      ("no type, plain", "<content>a &lt; b &amp; c</content>", "a &lt; b &amp; c"),
      ("no type, HTML all the same", "<content>&lt;p&gt;a&lt;/p&gt;</content>", "<p>a</p>")
    )
  do
    test(s"Atom's content of type $name is HTML afterwards"):
      assertEquals(items(atom(s"<entry>$content</entry>")).head.content, Some(html))

  for (title, plain) <- List(
      "AT&amp;amp;T &amp;#8217;s" -> "AT&T ’s",
      "Use &lt;b&gt;bold&lt;/b&gt; words" -> "Use bold words",
      "A List&lt;String&gt; in Java" -> "A List<String> in Java",
      "1 &lt; 2 &amp;&amp; 3" -> "1 < 2 && 3",
      "two\n   lines" -> "two lines"
    )
  do
    test(s"the title '$plain' is plain text"):
      assertEquals(titles(rss(s"<item><title>$title</title></item>")), Vector(plain))

  test("a guid is kept whole, whatever its length"):
    val start = "g" * 1_500
    val both = items(rss(s"<item><guid>${start}1</guid></item><item><guid>${start}2</guid></item>"))
    assertEquals(both.map(_.guid).distinct.size, 2)

  test("nothing is dropped: each item of the document is one"):
    val same = "<item><guid>g</guid><title>same</title></item>"
    assertEquals(items(rss(same * 4)).size, 4)

  test("an item within an item that does not end is an item of its own"):
    assertEquals(titles(rss("<item><title>1</title><item><title>2</title></item>")), oneAndTwo)

  test("what a text has in it is no item"):
    val entry =
      """<entry><title>1</title><content type="xhtml"><div><item>x</item></div></content></entry>"""
    assertEquals(titles(atom(entry)), Vector("1"))

  test("depth is no danger"):
    val deep = "<b>" * 100_000
    for xml <- List(rss(s"<item><title>1</title>$deep</item>"), deep, "<rss>" + deep) do
      val _ = ParsedFeed.parse(xml.getBytes(UTF_8), None, here)

  test("an address with a bare ampersand stays what it is, and so does CDATA"):
    val address = "http://b.example/?a=1&section=2&copy=3&notify=1&times=3"
    val item = s"<item><link>$address</link><guid>$address</guid>" +
      "<description><![CDATA[a &amp; b & c]]></description></item>"
    val Vector(read) = items(rss(item)): @unchecked
    assertEquals(read.url, Some(address))
    assertEquals(read.guid, address)
    assertEquals(read.summary, Some("a &amp; b & c"))

  test("a text goes on behind a tag that does not end"):
    val item = "<item><description>One<br>two <b>three</b><hr>four</description></item>"
    assertEquals(items(rss(item)).flatMap(_.summary), Vector("One<br>two <b>three</b><hr>four"))

  test("items that do not end are all read, however many there are"):
    val open = (1 to 600).map(n => s"<item><title>$n</title>").mkString
    assertEquals(titles(rss(open)), (1 to 600).map(_.toString).toVector)
    assertEquals(titles(rss(s"<link>a&b</link>$open")), (1 to 600).map(_.toString).toVector)

  test("a field of the channel that does not end hides no item"):
    assertEquals(titles(rss(s"<description>My blog<description/>$two")), oneAndTwo)

  private def millis(xml: String): Long =
    val start = System.nanoTime()
    val _ = ParsedFeed.parse(xml.getBytes(UTF_8), None, here)
    (System.nanoTime() - start) / 1_000_000

  for (name, xml) <- List(
      "spaces before a link" ->
        rss(s"<item><description>&lt;a href=${" " * 100_000}#&gt;x</description></item>"),
      "a long name of a namespace" ->
        s"<rss xmlns:a='${"a" * 300_000}'><channel>${"<a:b/>" * 50_000}</channel></rss>",
      "a long base" ->
        (s"""<rss xml:base="http://b.example/${"a" * 150_000}/"><channel>""" +
          "<item><link>a</link></item>" * 5_500 + "</channel></rss>"),
      "items in titles" ->
        rss("<item><title>" * 95 + "text " * 50_000 + "</title></item>" * 95)
    )
  do test(s"$name: a hostile document takes its time only once")(assert(millis(xml) < 8_000))
