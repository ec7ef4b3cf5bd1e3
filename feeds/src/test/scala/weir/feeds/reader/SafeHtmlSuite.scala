package weir.feeds.reader

import munit.FunSuite
import org.jsoup.Jsoup
import scala.jdk.CollectionConverters.*

class SafeHtmlSuite extends FunSuite:
  private def clean(html: String) = SafeHtml.of(html, "https://a.example/blog/post.html").html

  test("text, structure and links are left"):
    val html = "<h2>A</h2><p>b <em>c</em> <code>d &lt; e</code></p><ul><li>f</li></ul>" +
      "<table><tbody><tr><td colspan=\"2\">g</td></tr></tbody></table>"
    assertEquals(clean(html), html)
    assertEquals(
      clean("<a href=\"https://b.example/?x=1&amp;y=2\">b</a>"),
      "<a href=\"https://b.example/?x=1&amp;y=2\" rel=\"noopener noreferrer nofollow\">b</a>"
    )

  test("a relative link is one of the page that the item is"):
    for (link, absolute) <- Seq(
        "other.html" -> "https://a.example/blog/other.html",
        "/x?y" -> "https://a.example/x?y",
        "//c.example/z" -> "https://c.example/z"
      )
    do assert(clean(s"<a href='$link'>x</a>").contains(s"href=\"$absolute\""), clean(link))

  test("no attack from the collection leaves anything but plain elements and links to the web"):
    for attack <- Attacks.all do
      val html = clean(attack)
      val found = Jsoup.parseBodyFragment(html).body
      for element <- found.getAllElements.asScala.drop(1) do
        assert(Attacks.harmless(element.tagName), s"$attack\n-> $html")
        for attribute <- element.attributes.asScala do
          val isFine = attribute.getKey match
            case "href" => attribute.getValue.matches("https?://.*")
            case "rel" => true
            case "dir" | "lang" | "colspan" | "rowspan" => true
            case _ => false
          assert(isFine, s"$attack\n-> $html")
      // A browser that reads the result gets the same document.
      assertEquals(Jsoup.parseBodyFragment(html).outputSettings(plain).body.html, html, attack)

  private def plain = org.jsoup.nodes.Document.OutputSettings().prettyPrint(false)

  test("what a page would load by itself is a link to it"):
    assertEquals(
      clean("<p><img src=cat.png alt='A <cat>'></p>"),
      "<p><a href=\"https://a.example/blog/cat.png\" rel=\"noopener noreferrer nofollow\">" +
        "[picture: A &lt;cat&gt;]</a></p>"
    )
    assert(clean("<iframe src='https://v.example/1'></iframe>").contains(">[page: v.example]</a>"))
    assert(
      clean("<video><source src='https://v.example/1.mp4'></video>").contains("[film: v.example]")
    )
    assertEquals(
      clean("<a href='https://b.example/'><img src='x.png' alt='Cat'></a>"),
      "<a href=\"https://b.example/\" rel=\"noopener noreferrer nofollow\">[picture: Cat]</a>"
    )

  test("a picture too small to be seen, or with no address and no words, is left out"):
    assertEquals(clean("a<img src='https://t.example/p.gif' width=1 height=1>b"), "ab")
    assertEquals(clean("a<img src='data:image/png;base64,AAAA'>b"), "ab")
    assertEquals(clean("a<img>b"), "ab")

  test("text without any element is said to be plain"):
    assert(SafeHtml.of("one\ntwo & three", "https://a.example/").isPlain)
    assert(!SafeHtml.of("<p>one</p>", "https://a.example/").isPlain)

  test("elements inside of elements without end, and very long texts, are cleaned too"):
    assert(clean("<div>" * 100_000 + "x").contains("x"))
    assert(clean("<b><i><u><a href=x>" * 2_000 + "x").contains("x"))
    assert(clean("x &amp; " * 200_000).length > 1_000_000)

  test("only addresses of the web can be linked to"):
    assertEquals(SafeHtml.link("https://a.example/x"), Some("https://a.example/x"))
    assertEquals(SafeHtml.link(" HTTP://a.example/ü "), Some("HTTP://a.example/%C3%BC"))
    val others =
      Seq("javascript:alert(1)", "data:text/html,x", "java\nscript:x", "//a.example/", "x")
    val more =
      Seq("https:a.example", "vbscript:x", "file:///etc/passwd", "http://", "ht\ttp://a/", "")
    val withHost =
      Seq("javascript://a.example/%0Ahit()", "ftp://a.example/x", "data://a.example/,x")
    for address <- others ++ more ++ withHost do assertEquals(SafeHtml.link(address), None, address)
