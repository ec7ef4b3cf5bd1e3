package weir.feeds.store

import scala.concurrent.duration.*

import munit.FunSuite

import weir.feeds.input.{FeedUrl, NewFeed}
import weir.feeds.store.Leases.Answer

/** The facts about several processes on one database, for every database. */
trait LeaseFacts:
  self: FunSuite =>

  def withDatabase(body: Database => Unit): Unit

  /** Runs `body` with a database of version 3 of the tables. */
  def withVersion3(body: Database => Unit): Unit

  private val due = DueQuery(1_000_000_000L, staleMillis = 3_600_000)

  private final class Process(database: Database, number: Int, life: FiniteDuration = 1.hour):
    val store: FeedStore = FeedStore.open(database)
    // Each on a machine of its own, where this test's process is none of theirs.
    val leases: Leases =
      store.lease(life, WorkerProcess(s"m$number/7", s"machine $number", 7))
    def take(feed: DueFeed, perHost: Option[Int] = None): Answer =
      leases.take(feed, due, perHost)

  /** `count` feeds of one host, and as many processes as `body` asks for. */
  private def shared(count: Int)(
      body: ((Int, FiniteDuration) => Process, Vector[DueFeed]) => Unit
  ) =
    withDatabase: database =>
      val store = FeedStore.open(database)
      store.add(
        (1 to count).map(n =>
          NewFeed(FeedUrl.parse(s"http://a.example/$n").toOption.get, None, 1.milli)
        )
      ): Unit
      val feeds = Vector(0, 1).flatMap: half =>
        val cursor = store.cursor(due, half, 100)
        try cursor.nextPage()
        finally cursor.close()
      var all = Vector.empty[Process]
      try
        body(
          (number, life) => {
            val made = Process(database, number, life)
            all :+= made
            made
          },
          feeds.sortBy(_.id)
        )
      finally
        all.foreach(_.store.close())
        store.close()

  private def check(feed: DueFeed) =
    Check(feed, due.asOfMillis, 5, "fetched", None, 0, 0, false, None, None, None)

  test("a feed that one process has is no other's, until it is checked, and then is not due"):
    shared(1): (start, feeds) =>
      val (one, two) = (start(1, 1.hour), start(2, 1.hour))
      assertEquals(one.leases.others(), 1)
      assertEquals(one.take(feeds(0)), Answer.Ours)
      assertEquals(one.take(feeds(0)), Answer.Ours)
      assertEquals(two.take(feeds(0)), Answer.Leased)
      assertEquals(two.leases.record(check(feeds(0))), None)
      assertEquals(one.leases.record(check(feeds(0))), Some(Recorded(0, 0)))
      assertEquals(two.take(feeds(0)), Answer.Done)
      assertEquals(one.leases.record(check(feeds(0))), None)

  test("a process that says no more loses its feeds when its time is over, and stores nothing"):
    shared(2): (start, feeds) =>
      val (dead, two) = (start(1, 1.milli), start(2, 1.hour))
      dead.take(feeds(0)): Unit
      Thread.sleep(5) // its time
      assertEquals(two.take(feeds(0)), Answer.Ours)
      assertEquals(dead.leases.record(check(feeds(0))), None)
      // It was only asleep, and lives again.
      dead.take(feeds(1)): Unit
      dead.leases.renew()
      assertEquals(dead.leases.record(check(feeds(1))), Some(Recorded(0, 0)))
      assertEquals(two.leases.record(check(feeds(0))), Some(Recorded(0, 0)))

  test("a process that ends gives back what it has at once"):
    shared(1): (start, feeds) =>
      val (one, two) = (start(1, 1.hour), start(2, 1.hour))
      one.take(feeds(0)): Unit
      one.leases.close()
      assertEquals(two.take(feeds(0)), Answer.Ours)
      assertEquals(two.leases.others(), 0)

  test("a process of this machine that is no more has lost its feeds, whatever its time"):
    withDatabase: database =>
      val store = FeedStore.open(database)
      store.add(Seq(NewFeed(FeedUrl.parse("http://a.example/").toOption.get, None, 1.milli))): Unit
      val cursors = List(0, 1).map(store.cursor(due, _, 5))
      val feed = cursors.flatMap(_.nextPage()).head
      cursors.foreach(_.close())
      val machine = WorkerProcess.current.machine
      val dead = store.lease(1.hour, WorkerProcess("dead", machine, Int.MaxValue))
      assertEquals(dead.take(feed, due, None), Answer.Ours)
      val own = store.lease(1.hour)
      assertEquals(own.take(feed, due, None), Answer.Ours)
      store.close()

  test("the permits of a host are counted over all processes; a feed that rests has none"):
    shared(4): (start, feeds) =>
      val (one, two) = (start(1, 1.hour), start(2, 1.hour))
      assertEquals(one.take(feeds(0), Some(2)), Answer.Ours)
      assertEquals(two.take(feeds(1), Some(2)), Answer.Ours)
      assertEquals(two.take(feeds(2), Some(2)), Answer.HostBusy)
      assertEquals(one.take(feeds(0), Some(2)), Answer.Ours)
      one.leases.rest(feeds(0))
      assertEquals(two.take(feeds(2), Some(2)), Answer.Ours)
      assertEquals(two.take(feeds(0), Some(2)), Answer.Leased)
      assertEquals(one.take(feeds(0), Some(2)), Answer.HostBusy)
      two.leases.record(check(feeds(1))): Unit
      assertEquals(one.take(feeds(0), Some(2)), Answer.Ours)
      // The leases of a dead process do not count.
      two.leases.close()
      assertEquals(one.take(feeds(3), Some(2)), Answer.Ours)

  test("taken by many at once, a feed is one's, and a host has no permit too many"):
    shared(30): (start, feeds) =>
      val processes = (1 to 3).map(start(_, 1.hour))
      val answers = java.util.concurrent.ConcurrentLinkedQueue[(Long, Answer)]()
      val threads = processes.map(process =>
        Thread.ofPlatform().start { () =>
          for feed <- feeds do answers.add((feed.id, process.take(feed, Some(20)))): Unit
        }
      )
      threads.foreach(_.join())
      val ours =
        answers.toArray(Array.empty[(Long, Answer)]).toList.collect { case (id, Answer.Ours) => id }
      assertEquals(answers.size, 90)
      assertEquals(ours.size, 20)
      assertEquals(ours.toSet.size, 20)

  test("the tables of version 2 are brought up to date, and can be shared then"):
    withVersion3: database =>
      val connection = database.connect()
      List(
        "DROP TABLE worker",
        "DROP TABLE lease",
        "UPDATE meta SET value = '2' WHERE name = 'version'"
      )
        .foreach(Sql.execute(connection, _))
      if database.isInstanceOf[Sqlite] then Sql.execute(connection, "PRAGMA user_version = 2")
      connection.close()
      assertEquals(database.version(), Some(2))
      val store = FeedStore.open(database)
      assertEquals(database.version(), Some(Schema.version))
      store.lease(1.hour, WorkerProcess("m/7", "machine", 7)).close()
      store.close()
