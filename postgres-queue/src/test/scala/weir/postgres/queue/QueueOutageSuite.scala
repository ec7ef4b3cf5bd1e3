package weir.postgres.queue

import java.sql.SQLException
import java.util.concurrent.{ConcurrentHashMap, ConcurrentLinkedQueue, CountDownLatch}
import java.util.concurrent.atomic.AtomicInteger
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*
import scala.util.Random

import weir.{Deferred, Task, Tier}
import weir.postgres.queue.PgWorker.Event
import weir.postgres.journal.MortalServer
import weir.postgres.psql.CutProxy

/** Workers whose network is cut, or whose server is killed or takes no writes. */
class QueueOutageSuite extends QueueFixture:
  override def limit: FiniteDuration = Tier(120, 600).seconds

  private def through(proxy: CutProxy, database: String): PgQueue[String] =
    queueIn(server.jdbc(database).replace(s":${server.port}/", s":${proxy.port}/"))

  test("cut again and again, nothing is lost, and each job is emitted once at most"):
    val (direct, database) = newQueue()
    val seed = Tier.seed("weir.queue.seed")
    val random = Random(seed)
    val count = Tier(300, 6000)
    val proxy = CutProxy(server.port)
    val runs = ConcurrentHashMap[String, AtomicInteger]()
    val emitted = ConcurrentLinkedQueue[String]()
    direct.offerAll(offers(count)).runSync(): Unit
    val begun = CountDownLatch(1)
    try
      val worker = PgWorker(poll = 20.millis)
      val running = through(proxy, database)
        .stream(8, 2.seconds, worker)(job =>
          Task(runs.computeIfAbsent(job.payload, _ => AtomicInteger()).incrementAndGet()) >>
            Task(begun.countDown()) >> Task.sleep(1.milli).as(job.payload)
        )
        .evalMap(payload => Task(emitted.add(payload)))
        .drain
        .start
        .runSync()
      var cuts = 0
      await(begun) // the first connection must be opened
      on(database): connection =>
        val ask = connection.prepareStatement("SELECT count(*) FROM weir_queue.work")
        def left =
          val rows = ask.executeQuery()
          rows.next(): Unit
          rows.getInt(1)
        while left > 0 do
          Thread.sleep(random.nextInt(60))
          if cuts < Tier(8, 120) then
            proxy.cut()
            cuts += 1
      eventually("what was acknowledged is emitted")(emitted.size == emitted.asScala.toSet.size)
      running.cancel.runSync()
      assertEquals(direct.counts.runSync(), PgQueue.Counts(0, 0, 0, 0), s"-Dweir.queue.seed=$seed")
      assertEquals(runs.size, count)
      assertEquals(emitted.size, emitted.asScala.toSet.size)
      val again = runs.values.asScala.map(_.get - 1).sum
      assert(again <= cuts * 16, s"$again runs again for $cuts cuts, seed $seed")
    finally proxy.close()

  test("while the server does not answer, jobs are cancelled when their leases end, not before"):
    val (direct, database) = newQueue()
    direct.offer(PgOffer("a")).runSync(): Unit
    val proxy = CutProxy(server.port)
    try
      val begun = CountDownLatch(1)
      val cancelled = CountDownLatch(1)
      val lost = CountDownLatch(1)
      val listener: Event => Unit = {
        case Event.LeaseLost(_) => lost.countDown()
        case _ => ()
      }
      val start = System.nanoTime()
      val running = through(proxy, database)
        .stream(1, 900.millis, PgWorker(listener = listener))(_ =>
          Task(begun.countDown()) >> Task.never.onCancel(Task(cancelled.countDown()))
        )
        .drain
        .start
        .runSync()
      await(begun)
      proxy.stall()
      await(cancelled)
      await(lost)
      assert(System.nanoTime() - start >= 900.millis.toNanos)
      assertEquals(direct.take(1, lease).runSync().map(_.attempt), Vector(2))
      proxy.cut()
      running.cancel.runSync()
    finally proxy.close()

  test("a server that is killed and started again: the workers go on"):
    val mortal = MortalServer()
    try
      val database = mortal.newDatabase("queue")
      val url = s"jdbc:postgresql://localhost:${mortal.port}/$database?user=postgres"
      val queue = queueIn(url)
      queue.create.runSync()
      val events = ConcurrentLinkedQueue[Event]()
      val worker = PgWorker(poll = 50.millis, listener = event => events.add(event): Unit)
      val running =
        queue
          .stream(4, 30.seconds, worker)(job => Task(job.payload))
          .take(40)
          .toList
          .start
          .runSync()
      queue.offerAll(offers(20)).runSync(): Unit
      eventually("some are done")(queue.counts.runSync().ready == 0)
      mortal.kill()
      mortal.restart()
      queue.offerAll(offers(40).drop(20)).runSync(): Unit
      val done = running.joinOrFail.runSync()
      assertEquals(done.map(_.toInt).sorted, List.range(0, 40))
      assert(events.asScala.exists(_.isInstanceOf[Event.Disconnected]), events)
      assert(events.asScala.exists(_ == Event.Reconnected), events)
    finally mortal.close()

  test("a server that is read-only for a while: what runs goes on, and so do the workers"):
    val (queue, _) = newQueue()
    val events, lateEvents = ConcurrentLinkedQueue[Event]()
    val runs = ConcurrentHashMap[String, AtomicInteger]()
    val begun = CountDownLatch(1)
    val go = Deferred.unsafe[Unit]
    def worker(events: ConcurrentLinkedQueue[Event]) = queue.stream(
      4,
      lease,
      PgWorker(poll = 50.millis, listener = event => events.add(event): Unit)
    ) { job =>
      val counted = Task(runs.computeIfAbsent(job.payload, _ => AtomicInteger()).incrementAndGet())
      val waited = Task.when(job.payload == "0")(Task(begun.countDown()) >> go.get)
      (counted >> waited).as(job.payload)
    }
    val done = ConcurrentLinkedQueue[String]()
    def started(events: ConcurrentLinkedQueue[Event]) =
      worker(events).evalTap(payload => Task(done.add(payload))).drain.start.runSync()
    val early = started(events)
    queue.offerAll(offers(20)).runSync(): Unit
    await(begun)
    val late =
      try
        readOnly("on")
        eventually("the worker has told")(events.asScala.exists(isReadOnly))
        val late = started(lateEvents)
        eventually("the late worker has told")(lateEvents.asScala.exists(isReadOnly))
        val refused = intercept[SQLException](queue.offer(PgOffer("x")).runSync())
        assertEquals(refused.getSQLState, "25006")
        go.complete(()).runSync(): Unit
        late
      finally readOnly("off")
    queue.offerAll(offers(40).drop(20)).runSync(): Unit
    eventually("all is done")(done.size >= 40)
    eventually("it has told")(events.contains(Event.Reconnected))
    for running <- List(early, late) do running.cancel.runSync()
    assertEquals(done.asScala.map(_.toInt).toList.sorted, List.range(0, 40))
    assertEquals(runs.values.asScala.map(_.get).toSet, Set(1))
    assertEquals(queue.counts.runSync(), PgQueue.Counts(0, 0, 0, 0))
    assert(!events.asScala.exists(_.isInstanceOf[Event.LeaseLost]), events)

  private def isReadOnly(event: Event): Boolean = event match
    case Event.Disconnected(error: SQLException) => error.getSQLState == "25006"
    case _ => false

  /** Of all sessions of the server, as after a failover to one that is not promoted yet. */
  private def readOnly(value: String): Unit =
    on("postgres")(server.execute(_, s"ALTER SYSTEM SET default_transaction_read_only = $value"))
    server.ask("postgres")("SELECT pg_reload_conf()"): Unit
    eventually(s"read-only is $value")(
      server.ask("postgres")("SHOW default_transaction_read_only") == value
    )
