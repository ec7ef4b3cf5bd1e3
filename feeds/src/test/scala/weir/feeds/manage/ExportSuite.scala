package weir.feeds.manage

import com.rometools.opml.feed.opml.{Opml, Outline}
import com.rometools.rome.io.WireFeedInput
import java.io.StringReader
import java.nio.file.{Files, Path}
import scala.jdk.CollectionConverters.*

import munit.FunSuite

import weir.feeds.FeedsProgram
import weir.feeds.reader.ReaderFixture
import weir.feeds.store.{FeedAbout, FeedQuery}
import weir.program.TempFolder

/** `weir feeds export`: its OPML, as `--opml` and as another reader's library reads it. */
class ExportSuite extends FunSuite with TempFolder:
  private val titles = Vector(
    "Plain",
    "朱镕基 & <b>囍事</b>",
    "quotes \" and '",
    "emoji 🎉, flag 🇨🇭",
    "control \u0001\u001b[0m end",
    "not a character \ufffe"
  )

  private def filled(folder: Path): Unit =
    val fixture = ReaderFixture.in(folder)
    for (title, index) <- titles.zipWithIndex do
      fixture.fetched(s"http://a.example/feed?a=$index&b=ä", title, "x" -> "y")
    fixture.added("http://b.example/untitled", "https://münchen.example/x")

  private def exported(folder: Path): String =
    val result = FeedsProgram.run("export", "--db", folder.resolve("feeds.db").toString)
    assertEquals((result.code, result.err), (0, ""))
    result.out

  private def feeds(folder: Path): Vector[(String, Option[String])] =
    ReaderFixture
      .read(ReaderFixture.in(folder).database)(_.read(FeedQuery(FeedQuery.Show.All).page(_, 0, 99)))
      .map(feed => (feed.url, feed.title))

  folder.test("what is exported is taken back by --opml, addresses and titles"): folder =>
    filled(folder)
    val file = write(folder, "subs.opml", exported(folder))
    val other = Files.createDirectory(folder.resolve("other"))
    val args = Seq("--db", other.resolve("feeds.db").toString, "--opml", s"$file", "--strict")
    val taken = FeedsProgram.run(args ++ Seq("--timeout", "1ms", "--retries", "0")*)
    assert(taken.out.startsWith(s"${titles.size + 2} feeds added\n"), taken.out + taken.err)
    def shown(feeds: Vector[(String, Option[String])]) =
      feeds.map((url, title) => url -> title.fold(url)(weir.feeds.reader.PlainText.line)).toMap
    val expected = shown(feeds(folder)).map((url, title) => url -> title.replace("\ufffe", "").trim)
    assertEquals(shown(feeds(other)), expected)

  folder.test("another reader's library finds the same feeds in it, strictly"): folder =>
    filled(folder)
    val text = exported(folder)
    val opml = WireFeedInput().build(StringReader(text)).asInstanceOf[Opml]
    val outlines = opml.getOutlines.asScala.toVector.asInstanceOf[Vector[Outline]]
    assertEquals(outlines.map(_.getXmlUrl).toSet, feeds(folder).map(_._1).toSet)
    assertEquals(outlines.map(_.getType).distinct, Vector("rss"))
    assert(outlines.exists(_.getTitle == "朱镕基 & <b>囍事</b>"), outlines.map(_.getTitle))
    assert(text.forall(char => char == '\n' || char >= ' ' && char <= '~'))

  folder.test("the page of a feed is exported, and a database without feeds is empty OPML"):
    folder =>
      val fixture = ReaderFixture.in(folder)
      fixture.said(
        "http://a.example/feed",
        FeedAbout(Some("A"), home = Some("http://a.example/?a&b"))
      )
      assert(exported(folder).contains("htmlUrl=\"http://a.example/?a&#38;b\""), exported(folder))
      assertEquals(
        FeedsProgram
          .run("remove", "--db", folder.resolve("feeds.db").toString, "http://a.example/feed")
          .code,
        0
      )
      val none = WireFeedInput().build(StringReader(exported(folder))).asInstanceOf[Opml]
      assert(none.getOutlines.isEmpty)
