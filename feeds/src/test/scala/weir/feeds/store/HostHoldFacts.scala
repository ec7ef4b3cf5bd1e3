package weir.feeds.store

import scala.concurrent.duration.*

import munit.FunSuite

import weir.feeds.input.{FeedUrl, NewFeed}
import weir.feeds.store.Leases.Answer

/** The facts about hosts that want a pause, for every database. */
trait HostHoldFacts:
  self: FunSuite =>

  def withDatabase(body: Database => Unit): Unit

  private val due = DueQuery(1_000_000_000L, staleMillis = 3_600_000)
  private val host = "a.example"

  private final class Setting(database: Database):
    val store: FeedStore = FeedStore.open(database)
    store.add(
      List("a.example/1", "a.example/2", "b.example/1").map(text =>
        NewFeed(FeedUrl.parse(s"http://$text").toOption.get, None, 1.milli)
      )
    ): Unit
    val feeds: Vector[DueFeed] = Vector(0, 1)
      .flatMap: half =>
        val cursor = store.cursor(due, half, 100)
        try cursor.nextPage()
        finally cursor.close()
      .sortBy(_.url.text)
    def process(number: Int): Leases =
      store.lease(1.hour, WorkerProcess(s"m$number/7", s"machine $number", 7))

    /** Lets the time of the database go by, as far as holds are concerned. */
    def advance(time: FiniteDuration): Unit = store.writing: connection =>
      Sql.update(connection, "UPDATE host_hold SET until_ms = until_ms - ?")(time.toMillis): Unit

    def check(feed: DueFeed, outcome: String = "fetched"): Check =
      Check(feed, due.asOfMillis, 5, outcome, None, 0, 0, false, None, None, None)

  private def withSetting(body: Setting => Unit): Unit = withDatabase: database =>
    val setting = Setting(database)
    try body(setting)
    finally setting.store.close()

  private def isAbout(left: FiniteDuration, expected: FiniteDuration): Unit =
    assert(left <= expected && left > expected - 1.minute, s"$left, not about $expected")

  private def heldFor(answer: Answer): FiniteDuration = answer match
    case Answer.HostHeld(left) => left
    case other => fail(other.toString)

  test("a host that wants a pause is held in all processes, and its feeds stay due"):
    withSetting: setting =>
      import setting.*
      val (one, two) = (process(1), process(2))
      assertEquals(one.take(feeds(0), due, Some(4)), Answer.Ours)
      one.holdHost(host, Some(1.hour)): Unit
      one.record(check(feeds(0), "429 too many requests")): Unit
      for process <- List(one, two, process(3)) do
        isAbout(heldFor(process.take(feeds(1), due, Some(4))), 1.hour)
        assertEquals(process.knownHold(host).map(_ > 1.minute), Some(true))
        process.hold(host).foreach(isAbout(_, 1.hour))
      assertEquals(two.take(feeds(2), due, Some(4)), Answer.Ours)
      assertEquals(store.amount(due).feeds, 2L)
      advance(59.minutes)
      isAbout(heldFor(process(4).take(feeds(1), due, Some(4))), 1.minute)
      advance(1.minute)
      assertEquals(process(5).take(feeds(1), due, Some(4)), Answer.Ours)

  test("where the host names no time, holds grow, and are short again after a good answer"):
    withSetting: setting =>
      import setting.*
      val leases = process(1)
      def next() =
        advance(2.hours)
        leases.holdHost(host, None)
      val first = leases.holdHost(host, None)
      assertEquals(first, 2.seconds)
      assert(leases.holdHost(host, None) <= first, "the second of those in flight counted")
      assertEquals(List.fill(4)(next()), List(4.seconds, 8.seconds, 16.seconds, 32.seconds))
      assertEquals(Iterator.fill(20)(next()).max, 1.hour)
      advance(2.hours)
      assertEquals(process(2).take(feeds(0), due, Some(4)), Answer.Ours)
      process(2).record(check(feeds(0)), Some(host)): Unit
      assertEquals(next() > 30.minutes, true, "a check that was not stored has ended the growth")
      val other = process(3)
      advance(2.hours)
      assertEquals(other.take(feeds(1), due, Some(4)), Answer.Ours)
      other.record(check(feeds(1)), Some(host)): Unit
      assertEquals(next(), 2.seconds)

  test("a good answer during a hold does not end it, and a shorter one does not shorten it"):
    withSetting: setting =>
      import setting.*
      val leases = process(1)
      assertEquals(leases.take(feeds(0), due, Some(4)), Answer.Ours)
      leases.holdHost(host, Some(1.hour)): Unit
      isAbout(leases.holdHost(host, Some(10.minutes)), 1.hour)
      leases.record(check(feeds(0)), Some(host)): Unit
      isAbout(heldFor(process(2).take(feeds(1), due, Some(4))), 1.hour)
      isAbout(leases.holdHost(host, Some(3.hours)), 3.hours)
      isAbout(leases.holdHost(host, Some(1000.days)), 1.day)

  test("a hold by a clock that was wrong is none"):
    withSetting: setting =>
      import setting.*
      process(1).holdHost(host, Some(1.hour)): Unit
      advance(-30.days)
      assertEquals(process(2).take(feeds(0), due, Some(4)), Answer.Ours)

  test("the next feed falls due when the hold of its host ends"):
    withSetting: setting =>
      import setting.*
      val leases = process(1)
      for feed <- feeds do
        assertEquals(leases.take(feed, due, None), Answer.Ours)
        leases.record(check(feed)): Unit
      val later = due.copy(asOfMillis = due.asOfMillis + due.staleMillis + 1)
      assertEquals(store.nextAtMillis(later), Some(later.asOfMillis - 1))
      List("a.example", "b.example").foreach(leases.holdHost(_, Some(1.hour)))
      isAbout((store.nextAtMillis(later).get - later.asOfMillis).millis, 1.hour)

  test("a check in the future, of a clock that was wrong, makes its feed due"):
    withSetting: setting =>
      import setting.*
      val now = due.asOfMillis
      val wrong = now + 30.days.toMillis
      val query = due.copy(nowMillis = () => now + 1000)
      store.record(check(feeds(0)).copy(atMillis = wrong, holdOffMillis = 1.day.toMillis)): Unit
      store.record(check(feeds(1)).copy(atMillis = now + 2000)): Unit
      store.record(check(feeds(2)).copy(atMillis = now)): Unit
      assertEquals(store.amount(query).feeds, 1L)
      assertEquals(store.nextAtMillis(query), Some(0L))
      assertEquals(process(1).take(feeds(0), query, None), Answer.Ours)
      assertEquals(process(1).take(feeds(1), query, None), Answer.Done)
