package weir.feeds.run

import java.nio.charset.StandardCharsets.UTF_8
import scala.concurrent.duration.*

import munit.FunSuite

import weir.feeds.fetch.{Answer, Content, Failure, Reason}
import weir.feeds.input.FeedUrl
import weir.feeds.store.{Check, DueFeed}

class CheckOutcomeSuite extends FunSuite:
  private def url(text: String) = FeedUrl.parse(text).toOption.get

  private val page = url("http://a.example/blog")
  private val feed = DueFeed(1, page, None, None, 0, 0, 1000)

  private def document(
      text: String,
      from: FeedUrl = page,
      freshFor: Option[FiniteDuration] = None,
      movedTo: Option[FeedUrl] = None
  ): Answer.Document =
    Answer.Document(
      content = Content.of(text.getBytes(UTF_8)),
      charset = None,
      etag = Some("e"),
      lastModified = None,
      url = from,
      freshFor = freshFor,
      movedTo = movedTo
    )

  private def rss(ttl: String = "") =
    s"<rss><channel><title>T</title>$ttl<item><guid>1</guid></item></channel></rss>"

  private val html = """<html><link rel="alternate" type="application/rss+xml" href="/feed">
    |<link rel="alternate" type="application/atom+xml" href="/comments"></html>""".stripMargin

  private def end(outcome: CheckOutcome): CheckOutcome.End = outcome match
    case end: CheckOutcome.End => end
    case other => fail(other.toString)

  test("a feed may lengthen the time until the next check, by ttl or by its server, up to a day"):
    def holdOff(answer: Answer, feed: DueFeed = feed) = end(CheckOutcome.of(feed, answer)).holdOff
    assertEquals(holdOff(document(rss())), Duration.Zero)
    assertEquals(holdOff(document(rss("<ttl>120</ttl>"))), 2.hours)
    assertEquals(holdOff(document(rss("<ttl>120</ttl>"), freshFor = Some(3.hours))), 3.hours)
    assertEquals(holdOff(document(rss(), freshFor = Some(3.days))), 1.day)
    assertEquals(holdOff(Answer.NotModified(Some(4.hours))), 4.hours)

  test("a feed that is not modified keeps its own pause, and no other"):
    val known = feed.copy(ttlMillis = 7_200_000, failures = 3)
    assertEquals(end(CheckOutcome.of(known, Answer.NotModified(None))).holdOff, 2.hours)
    assertEquals(end(CheckOutcome.of(known, Answer.NotModified(Some(3.hours)))).holdOff, 3.hours)
    val found = end(CheckOutcome.of(feed, document(rss("<ttl>120</ttl>")))).found
    assertEquals(found.map(_.ttlMillis), Some(7_200_000L))

  test("the validators of an answer of nothing new are kept"):
    val answer = Answer.NotModified(None, etag = Some("e2"), lastModified = Some("today"))
    val renewed = end(CheckOutcome.of(feed, answer)).renewed
    assertEquals(renewed, Some(Check.Validators(Some("e2"), Some("today"))))

  test("the validators of a truncated feed are not kept, or the rest of it would never come"):
    val cut = rss().replace("</channel></rss>", "<item><ti")
    val found = end(CheckOutcome.of(feed, document(cut))).found
    assertEquals(found.map(found => (found.items.size, found.etag)), Some((1, None)))
    assertEquals(end(CheckOutcome.of(feed, document(rss()))).found.flatMap(_.etag), Some("e"))

  private def announcing(address: String) =
    rss(s"<itunes:new-feed-url>$address</itunes:new-feed-url>")

  private def announced(outcome: CheckOutcome): CheckOutcome.Announced = outcome match
    case announced: CheckOutcome.Announced => announced
    case other => fail(other.toString)

  test(
    "a feed that says that it has moved is believed if a feed is there, and its items are those"
  ):
    val moved = announced(CheckOutcome.of(feed, document(announcing("/new"))))
    val there = url("http://a.example/new")
    assertEquals(moved.feed, there)
    val two = rss().replace("</channel>", "<item><guid>2</guid></item></channel>")
    val read = CheckOutcome.at(moved, feed.copy(url = there), document(two, from = there))
    assertEquals((read.movedTo, read.found.map(_.items.size)), (Some(there), Some(2)))
    val further = url("https://b.example/new")
    val redirected = document(two, from = further, movedTo = Some(further))
    val end = CheckOutcome.at(moved, feed.copy(url = there), redirected)
    assertEquals(end.movedTo, Some(further))
    // One that announces its own address, or another one, is where it says.
    for next <- List("/new", "/newest") do
      val there2 = document(announcing(next), from = there)
      assertEquals(CheckOutcome.at(moved, feed.copy(url = there), there2).movedTo, Some(there))

  test("a feed that is not where it says that it is stays where it was, and nothing is lost"):
    val moved = announced(CheckOutcome.of(feed, document(announcing("/new"))))
    val there = url("http://a.example/new")
    for answer <- List(
        Answer.Failed(Failure(Reason.Gone, "status 410")),
        document(html, from = there),
        document("<note/>", from = there),
        document(announcing(page.text), from = there)
      )
    do
      val end = CheckOutcome.at(moved, feed.copy(url = there), answer)
      assertEquals((end.reason, end.movedTo), (Reason.Fetched, None), answer.toString)
      assertEquals(end.found.map(_.items.size), Some(1))
      assert(end.detail.exists(_.contains(there.text)), end.detail)

  test("an announced address is not asked for if it could not be believed"):
    def asks(address: String, at: FeedUrl = page, feed: DueFeed = feed) =
      CheckOutcome.of(feed, document(announcing(address), from = at)) match
        case _: CheckOutcome.Announced => true
        case _ => false
    assert(asks("http://b.example/"))
    assert(!asks(page.text), "its own")
    assert(!asks("ftp://b.example/"), "not of HTTP")
    assert(!asks("http://b.example/", at = url("http://c.example/")), "behind a redirect for now")
    val secure = feed.copy(url = url("https://a.example/"))
    assert(!asks("http://b.example/", at = secure.url, feed = secure), "leaves https")
    assert(asks("https://b.example/", at = secure.url, feed = secure))

  test("the first feed of a page is what is stored, and where it lives is said"):
    val elsewhere = CheckOutcome.of(feed, document(html)) match
      case elsewhere: CheckOutcome.Elsewhere => elsewhere
      case other => fail(other.toString)
    assertEquals(elsewhere.feed.text, "http://a.example/feed")
    val found = url("http://a.example/feed")
    val read = CheckOutcome.behind(elsewhere, feed, document(rss(), from = found))
    assertEquals(read.reason, Reason.FoundOnPage)
    assertEquals(read.livesAt, Some(found))
    assertEquals(read.found.map(_.items.size), Some(1))
    assertEquals(read.found.flatMap(_.etag), None)
    assert(read.detail.exists(_.contains(found.text)), read.detail)

  test("a page behind a page, and a failure behind one, are failures that name both"):
    val elsewhere = new CheckOutcome.Elsewhere(page, url("http://a.example/feed"), true)
    val again = CheckOutcome.behind(elsewhere, feed, document(html))
    assertEquals(again.reason, Reason.NotAFeed)
    val missing = Answer.Failed(Failure(Reason.NotFound, "status 404"))
    val failed = CheckOutcome.behind(elsewhere, feed, missing)
    assertEquals(failed.reason, Reason.NotFound)
    assert(
      failed.detail.exists(text => text.contains("/feed") && text.contains("404")),
      failed.detail
    )

  test("that the feed of a page is gone does not end the checks of the page"):
    val elsewhere = new CheckOutcome.Elsewhere(page, url("http://a.example/feed"), true)
    val gone =
      CheckOutcome.behind(elsewhere, feed, Answer.Failed(Failure(Reason.Gone, "status 410")))
    assertEquals(gone.reason, Reason.NotFound)

  test("where a feed lives is not remembered after a redirect for now, nor if it leaves https"):
    def livesAt(feed: DueFeed, from: FeedUrl, named: String, movedTo: Option[FeedUrl] = None) =
      val html = s"""<html><link rel="alternate" type="text/xml" href="$named"></html>"""
      CheckOutcome.of(feed, document(html, from, movedTo = movedTo)) match
        case elsewhere: CheckOutcome.Elsewhere =>
          CheckOutcome.behind(elsewhere, feed, document(rss(), elsewhere.feed)).livesAt.map(_.text)
        case other => fail(other.toString)
    val portal = url("http://portal.example/login")
    assertEquals(livesAt(feed, portal, "/feed"), None)
    val moved = livesAt(feed, portal, "/feed", movedTo = Some(portal))
    assertEquals(moved, Some("http://portal.example/feed"))
    val secure = url("https://a.example/")
    val other = feed.copy(url = secure)
    assertEquals(livesAt(other, secure, "http://a.example/feed"), None)
    assertEquals(livesAt(other, secure, "/feed"), Some("https://a.example/feed"))
