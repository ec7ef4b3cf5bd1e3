package weir.feeds.fetch

import java.util.concurrent.CountDownLatch
import java.util.concurrent.locks.LockSupport
import scala.concurrent.duration.*
import scala.util.Random

import munit.FunSuite

import weir.{Outcome, Task}
import weir.feeds.input.FeedUrl
import weir.feeds.parse.ParsedFeed
import weir.feeds.site.{Kind, LocalSite, SitePlan}
import weir.feeds.store.DueFeed
import weir.program.Tier

class FetcherSuite extends FunSuite:
  private val plan = SitePlan.make(seed = 7, size = 60, speed = 100)
  private lazy val site = LocalSite.start(plan)
  private lazy val fetcher = Fetcher(1.minute, 10_000_000, site.address)
  private lazy val hasty = Fetcher(300.millis, 10_000_000, site.address)

  override def afterAll(): Unit =
    fetcher.close()
    hasty.close()
    site.close()

  private def feed(path: String, etag: Option[String] = None) =
    val url = FeedUrl.parse(s"http://${LocalSite.host}$path").fold(fail(_), identity)
    DueFeed(1, url, etag, None, 0, 0, 0)

  private def of(kind: Kind) =
    feed(plan.feeds.find(_.kind == kind).getOrElse(fail(s"no $kind")).path)

  private def failure(feed: DueFeed, by: Fetcher = fetcher) =
    by.fetch(feed).runSync() match
      case Answer.Failed(failure) => failure
      case other => fail(other.toString)

  private def document(feed: DueFeed) =
    fetcher.fetch(feed).runSync() match
      case document: Answer.Document => document
      case other => fail(other.toString)

  /** A connection that stays open keeps the site sending to it for ever. */
  private def awaitClosedBodies(): Unit =
    assert(site.openBodies.await(20.seconds)(_ == 0), "a connection is still open")

  for (kind, reason) <- List(
      Kind.NotFound -> Reason.NotFound,
      Kind.Gone -> Reason.Gone,
      Kind.ServerError -> Reason.ServerError,
      Kind.Reset -> Reason.Reset,
      Kind.Endless -> Reason.TooLarge,
      Kind.HugeSilent -> Reason.TooLarge,
      Kind.HugeAnnounced -> Reason.TooLarge,
      Kind.GzipBomb -> Reason.TooLarge,
      Kind.RedirectLoop -> Reason.RedirectLoop
    )
  do
    test(s"$kind ends as: ${reason.text}"):
      assertEquals(failure(of(kind)).reason, reason)
      awaitClosedBodies()

  for (kind, reason) <- List(
      Kind.Malformed -> Reason.Malformed,
      Kind.UnknownEncoding -> Reason.WrongEncoding,
      Kind.EntityBomb -> Reason.EntityBomb
    )
  do
    test(s"$kind is refused by the parser: ${reason.text}"):
      val answer = document(of(kind))
      assertEquals(
        ParsedFeed
          .parse(answer.content.bytes, answer.charset, answer.url)
          .left
          .map(_.reason)
          .left
          .toOption,
        Some(reason)
      )

  test("an external entity is never opened"):
    val answer = document(of(Kind.ExternalEntity))
    assert(String(answer.content.bytes).contains("/secret"))
    val parsed = ParsedFeed.parse(answer.content.bytes, answer.charset, answer.url)
    parsed match
      case Right(feed: ParsedFeed.Feed) => assertEquals(feed.reason, Reason.EntityLeftOut)
      case other => fail(other.toString)
    assertEquals(site.secretsOpened, 0)

  test("a deadline and a cancellation both close the connection of a body that trickles"):
    assertEquals(failure(of(Kind.Trickle), hasty).reason, Reason.TimedOut)
    awaitClosedBodies()
    val ended = CountDownLatch(1)
    var outcome: Option[Outcome[Answer]] = None
    val cancel = fetcher
      .fetch(of(Kind.Trickle))
      .runAsync: result =>
        outcome = Some(result)
        ended.countDown()
    assert(site.openBodies.await(20.seconds)(_ > 0))
    cancel()
    ended.await()
    assertEquals(outcome, Some(Outcome.Canceled))
    awaitClosedBodies()

  test("fetches that are cancelled while their answers arrive leave no connection open"):
    val random = Random(7)
    val atOnce = 20
    for _ <- 1 to Tier(5, 15) do
      val ended = CountDownLatch(atOnce)
      val cancels = Vector.fill(atOnce):
        fetcher.fetch(of(Kind.Trickle)).runAsync(_ => ended.countDown())
      val opened = 1 + random.nextInt(atOnce)
      assert(site.openBodies.await(20.seconds)(_ >= opened))
      cancels.foreach: cancel =>
        LockSupport.parkNanos(random.nextLong(50_000))
        cancel()
      ended.await()
      awaitClosedBodies()

  test("validators that are sent back are answered with not modified"):
    val known = feed(plan.feeds.find(f => f.kind == Kind.Plain && f.hasValidators).get.path)
    val etag = document(known).etag
    assert(etag.nonEmpty)
    fetcher.fetch(known.copy(etag = etag)).runSync() match
      case Answer.NotModified(freshFor, _, _) => assertEquals(freshFor, None)
      case other => fail(other.toString)

  test("only a permanent redirect gives a new address"):
    val moved = document(of(Kind.MovedForGood)).movedTo
    assert(moved.exists(_.text.contains("/moved/")), moved)
    assertEquals(document(of(Kind.MovedForNow)).movedTo, None)

  test("a busy server is tried again when it asked for it"):
    val busy = failure(of(Kind.Busy))
    assertEquals(busy.reason, Reason.TooManyRequests)
    assertEquals(busy.retryAfter, Some(1.second))

  test("a port without a listener is no connection"):
    val withoutServer = Fetcher(1.minute, 1000, identity)
    def reason(url: String) =
      val feed = DueFeed(1, FeedUrl.parse(url).toOption.get, None, None, 0, 0, 0)
      withoutServer.fetch(feed).runSync() match
        case Answer.Failed(failure) => failure.reason
        case other => fail(other.toString)
    assertEquals(reason("http://127.0.0.1:1/"), Reason.NoConnection)
    withoutServer.close()

  test("the charset is found in a content type"):
    assertEquals(Fetcher.charsetOf("text/xml; charset=\"UTF-8\""), Some("UTF-8"))
    assertEquals(Fetcher.charsetOf("text/xml;Charset=latin1; x=y"), Some("latin1"))
    assertEquals(Fetcher.charsetOf("text/xml; charset=' gb_2312-80 '"), Some("gb_2312-80"))
    assertEquals(Fetcher.charsetOf("text/xml"), None)

  test("a task that awaits a fetch in a sequence goes on after a time-out"):
    val after = Task
      .traverse(List(of(Kind.Trickle), of(Kind.Trickle)))(hasty.fetch(_))
      .runSync()
      .collect { case Answer.Failed(failure) => failure.reason }
    assertEquals(after, List(Reason.TimedOut, Reason.TimedOut))
