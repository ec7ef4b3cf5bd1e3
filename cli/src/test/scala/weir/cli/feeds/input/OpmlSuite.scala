package weir.cli.feeds.input

import munit.FunSuite

import weir.cli.{BadInput, TempFolder}

class OpmlSuite extends FunSuite with TempFolder:
  private def opml(body: String) =
    s"""<?xml version="1.0"?>
       |<opml version="2.0"><head><title>Mine</title></head><body>
       |$body
       |</body></opml>""".stripMargin

  folder.test("feeds are found at any depth, each address once"): folder =>
    val body =
      """<outline text="A"><outline text="B">
        |  <outline type="rss" text="One" xmlUrl="http://one.example/feed"/>
        |</outline></outline>
        |<outline title="Two" text="x" xmlurl=" https://two.example "/>
        |<outline xmlUrl="http://ONE.example/feed"/>""".stripMargin
    val feeds = Opml.read(write(folder, "subs.opml", opml(body)))
    assertEquals(
      feeds.map(feed => (feed.url.text, feed.title)),
      Vector(
        ("http://one.example/feed", Some("One")),
        ("https://two.example/", Some("Two"))
      )
    )

  folder.test("a feed without an address is named by line"): folder =>
    val file = write(folder, "subs.opml", opml("<outline text='ok'/>\n<outline type='rss'/>"))
    assertEquals(intercept[BadInput](Opml.read(file)).place, s"$file:4")

  folder.test("a bad address is named by line"): folder =>
    val file = write(folder, "subs.opml", opml("\n<outline xmlUrl='feed:x'/>"))
    assertEquals(intercept[BadInput](Opml.read(file)).place, s"$file:4")

  folder.test("malformed XML is named by line"): folder =>
    val file = write(folder, "subs.opml", "<opml>\n<body>\n</opml>")
    val bad = intercept[BadInput](Opml.read(file))
    assertEquals(bad.place, s"$file:3")
    assert(bad.getMessage.linesIterator.size == 1, bad.getMessage)

  folder.test("other XML, and OPML without feeds, are refused"): folder =>
    intercept[BadInput](Opml.read(write(folder, "a.xml", "<rss/>")))
    intercept[BadInput](Opml.read(write(folder, "b.xml", opml("<outline text='empty'/>"))))

  folder.test("nothing outside the file is read"): folder =>
    val secret = write(folder, "secret.txt", "http://secret.example/")
    val text =
      s"""<!DOCTYPE opml [<!ENTITY x SYSTEM "${secret.toUri}">]>
         |<opml><body><outline text="&x;" xmlUrl="http://a.example/"/></body></opml>""".stripMargin
    try
      val feeds = Opml.read(write(folder, "subs.opml", text))
      assert(!feeds.toString.contains("secret"))
    catch case _: BadInput => ()
