package weir.postgres.queue

import java.util.concurrent.{ConcurrentLinkedQueue, CountDownLatch}
import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger}
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*
import scala.util.Random

import weir.{Deferred, Schedule, Stream, Task, Tier}
import weir.postgres.queue.PgWorker.Event

/** A worker as a stream, on a server that stays up. */
class QueueStreamSuite extends QueueFixture:
  /** Only notifications wake it. */
  private val deaf = PgWorker(poll = 1.hour)

  test("each job is run once, at most as many at once as allowed, and is gone at the end"):
    val (queue, _) = newQueue()
    queue.offerAll(offers(300)).runSync(): Unit
    val now = AtomicInteger()
    val most = AtomicInteger()
    val results = queue
      .stream(7, lease) { job =>
        Task {
          most.accumulateAndGet(now.incrementAndGet(), _ max _): Unit
          Thread.sleep(0, 100_000)
          now.decrementAndGet(): Unit
          job.payload.toInt
        }
      }
      .take(300)
      .toList
      .runSync()
    assertEquals(results.sorted, List.range(0, 300))
    assert(most.get <= 7 && most.get > 1, most.get)
    assertEquals(queue.counts.runSync(), PgQueue.Counts(0, 0, 0, 0))

  test("with a parallelism of 1 jobs run in the order of their priorities"):
    val (queue, _) = newQueue()
    val random = Random(Tier.seed("weir.queue.seed"))
    val priorities = Vector.fill(60)(random.nextInt(5))
    queue.offerAll(priorities.map(p => PgOffer("", priority = p))).runSync(): Unit
    val order = queue.stream(1, lease)(job => Task.pure(job.priority)).take(60).toList.runSync()
    assertEquals(order, priorities.toList.sorted.reverse)

  test("what comes while many wait, and goes before them, does so within a moment"):
    val (queue, _) = newQueue()
    val waiting = 5000
    queue.offerAll(offers(waiting)).runSync(): Unit
    val held = queue.take(1, lease).runSync().head // the first of all
    val begun = ConcurrentLinkedQueue[String]()
    val running = queue
      .stream(4, lease)(job => Task.sleep(1.milli).map(_ => begun.add(job.payload)))
      .take(waiting + 2)
      .drain
      .start
      .runSync()
    eventually("it is busy")(begun.size > 500)
    val early = java.time.Instant.now().minusSeconds(3600)
    queue
      .offerAll(Vector(PgOffer("urgent", priority = 1), PgOffer("early", runAt = Some(early))))
      .runSync(): Unit
    queue.giveBack(held).runSync()
    running.joinOrFail.runSync()
    val places = List("urgent", "early", held.payload).map(begun.asScala.toVector.indexOf(_))
    assert(places.forall(place => place > 0 && place < waiting / 2), places)

  test("a worker that does not poll takes all that waits, whatever its priority and its time"):
    val (queue, _) = newQueue()
    val old = java.time.Instant.parse("1000-02-03T04:05:06Z")
    val jobs =
      PgOffer("", priority = 2) +:
        (Vector.fill(100)(PgOffer("", priority = 1)) ++ Vector.fill(300)(PgOffer("")) ++
          Vector.fill(30)(PgOffer("", priority = -1, runAt = Some(old))) :+
          PgOffer("", priority = -2))
    for parallelism <- List(1, 7, 100) do
      queue.offerAll(jobs).runSync(): Unit
      val order = queue
        .stream(parallelism, lease, deaf)(job => Task.pure(job.priority))
        .take(jobs.size)
        .toList
        .runSync()
      assertEquals(order.sorted, jobs.toList.map(_.priority).sorted)
      if parallelism == 1 then assertEquals(order, jobs.toList.map(_.priority))

  test("an offer wakes a worker that does not poll, and so does one for later, when it is due"):
    val (queue, _) = newQueue()
    val seen = ConcurrentLinkedQueue[(String, Long)]()
    val running = queue
      .stream(2, lease, deaf)(job => Task(seen.add((job.payload, System.currentTimeMillis()))))
      .drain
      .start
      .runSync()
    queue.offer(PgOffer("now")).runSync(): Unit
    eventually("it has run")(seen.size == 1)
    val due = java.time.Instant.now().plusMillis(300)
    queue.offer(PgOffer("later", runAt = Some(due))).runSync(): Unit
    eventually("it has run when it was due")(seen.size == 2)
    assert(seen.asScala.last(1) >= due.toEpochMilli, s"$seen $due")
    running.cancel.runSync()

  test("without notifications jobs are found by polling"):
    val (queue, _) = newQueue()
    val seen = CountDownLatch(1)
    val running = queue
      .stream(2, lease, PgWorker(poll = 50.millis, listens = false))(_ => Task(seen.countDown()))
      .drain
      .start
      .runSync()
    queue.offer(PgOffer("a")).runSync(): Unit
    await(seen)
    running.cancel.runSync()

  test("a job that fails is tried again after its pause, then dead; others go on"):
    val (queue, _) = newQueue()
    queue.offerAll(Vector(PgOffer("bad", maxAttempts = 3), PgOffer("good"))).runSync(): Unit
    val events = ConcurrentLinkedQueue[Event]()
    val worker =
      deaf.copy(pause = n => (10 * n).millis, listener = event => events.add(event): Unit)
    val died = CountDownLatch(3)
    val running = queue
      .stream(
        2,
        lease,
        worker.copy(listener = event => {
          events.add(event): Unit
          died.countDown()
        })
      )(job => if job.payload == "bad" then Task.fail(Boom(s"no ${job.attempt}")) else Task.unit)
      .drain
      .start
      .runSync()
    await(died)
    running.cancel.runSync()
    val said = events.asScala.toList.collect { case Event.Failed(job, error, pause) =>
      (job.attempt, error.getMessage, pause)
    }
    assertEquals(
      said,
      List((1, "no 1", Some(10.millis)), (2, "no 2", Some(20.millis)), (3, "no 3", None))
    )
    assertEquals(queue.counts.runSync(), PgQueue.Counts(0, 0, 0, 1))
    assert(queue.dead(1).runSync().head.error.contains("no 3"))

  test("a payload that the codec cannot read fails its job, not the stream"):
    val (text, database) = newQueue()
    text.offerAll(Vector(PgOffer("x", maxAttempts = 1), PgOffer("3"))).runSync(): Unit
    val numbers = PgQueue(
      () => java.sql.DriverManager.getConnection(server.jdbc(database)),
      "work",
      PgCodec.text.imap(_.toInt)(_.toString)
    )
    val results = numbers.stream(2, lease, deaf)(job => Task(job.payload)).take(1).toList.runSync()
    assertEquals(results, List(3))
    assertEquals(numbers.counts.runSync().dead, 1L)

  test("a cancelled stream cancels its jobs and gives them back at once, uncounted"):
    val (queue, _) = newQueue()
    queue.offerAll(offers(5)).runSync(): Unit
    val begun = CountDownLatch(3)
    val ended = AtomicInteger()
    val running = queue
      .stream(3, lease, deaf)(_ =>
        Task(begun.countDown()) >> Task.never.guarantee(Task(ended.incrementAndGet(): Unit))
      )
      .drain
      .start
      .runSync()
    await(begun)
    assertEquals(queue.counts.runSync(), PgQueue.Counts(2, 3, 0, 0))
    running.cancel.runSync()
    assertEquals(ended.get, 3)
    assertEquals(queue.counts.runSync(), PgQueue.Counts(5, 0, 0, 0))
    assertEquals(queue.take(5, lease).runSync().map(_.attempt), Vector(1, 1, 1, 1, 1))

  test("stopped, it takes no more, and ends when what runs has ended"):
    val (queue, _) = newQueue()
    queue.offerAll(offers(5)).runSync(): Unit
    val begun = CountDownLatch(2)
    val stop = Deferred.unsafe[Unit]
    val go = Deferred.unsafe[Unit]
    val running = queue
      .stream(2, lease, deaf.copy(stop = stop.get))(job =>
        Task(begun.countDown()) >> go.get.as(job.payload)
      )
      .toList
      .start
      .runSync()
    await(begun)
    stop.complete(()).runSync(): Unit
    go.complete(()).runSync(): Unit
    assertEquals(running.joinOrFail.runSync().sorted, List("0", "1"))
    assertEquals(queue.counts.runSync(), PgQueue.Counts(3, 0, 0, 0))

  test("stopped while nothing is to be done, it ends"):
    val (queue, _) = newQueue()
    val results = queue.stream(2, lease, deaf.copy(stop = Task.sleep(20.millis)))(_ => Task.unit)
    assertEquals(results.toList.runSync(), Nil)

  test("a stop that fails stops the stream too"):
    val (queue, _) = newQueue()
    val stop = Task.fail(Exception("no signal"))
    val results = queue.stream(2, lease, deaf.copy(stop = stop))(_ => Task.unit)
    assertEquals(results.toList.timeout(10.seconds).runSync(), Nil)

  test("a parallelism without a limit takes what there is"):
    val (queue, _) = newQueue()
    for parallelism <- List(Int.MaxValue, 1_000_000_000) do
      queue.offer(PgOffer("a")).runSync(): Unit
      val first = queue.stream(parallelism, lease)(job => Task.pure(job.payload)).head
      assert(first.timeout(10.seconds).runSync().nonEmpty)

  test("leases are renewed while jobs run, each third of their time"):
    val (queue, database) = newQueue()
    queue.offerAll(offers(2)).runSync(): Unit
    def ends =
      server.ask(database)("SELECT extract(epoch FROM min(leased_until)) FROM weir_queue.work")
    val begun = CountDownLatch(2)
    val go = Deferred.unsafe[Unit]
    val running = queue
      .stream(2, 3.seconds, deaf)(job => Task(begun.countDown()) >> go.get.as(job.attempt))
      .take(2)
      .toList
      .start
      .runSync()
    await(begun)
    val first = ends
    eventually("the leases end later")(ends != first)
    go.complete(()).runSync(): Unit
    assertEquals(running.joinOrFail.runSync(), List(1, 1))

  test("a worker that has lost a lease cancels the job, and the one that has it finishes it"):
    val (queue, database) = newQueue()
    queue.offer(PgOffer("a")).runSync(): Unit
    val begun = CountDownLatch(1)
    val cancelled = CountDownLatch(1)
    val lost = CountDownLatch(1)
    val listener: Event => Unit = {
      case Event.LeaseLost(_) => lost.countDown()
      case _ => ()
    }
    val running = queue
      .stream(1, 1.second, deaf.copy(listener = listener))(_ =>
        Task(begun.countDown()) >> Task.never.onCancel(Task(cancelled.countDown()))
      )
      .drain
      .start
      .runSync()
    await(begun)
    on(database)(server.execute(_, "UPDATE weir_queue.work SET token = token + 1"))
    await(lost)
    await(cancelled)
    running.cancel.runSync()
    // Whoever has given it the new token has it, until its lease ends.
    assertEquals(server.ask(database)("SELECT token FROM weir_queue.work"), "2")
    assertEquals(server.ask(database)("SELECT attempts FROM weir_queue.work"), "1")

  test(
    "an error with U+0000, and one that cannot say what it is, are recorded; the worker goes on"
  ):
    val (queue, _) = newQueue()
    queue.offerAll(List("nul", "mute", "good").map(PgOffer(_, maxAttempts = 1))).runSync(): Unit
    final class Mute extends Exception:
      override def toString: String = throw IllegalStateException("mute")
    val done = queue.stream(1, lease, deaf)(job =>
      job.payload match
        case "nul" => Task.fail(Exception("no\u0000 luck"))
        case "mute" => Task.fail(Mute())
        case good => Task.pure(good)
    )
    assertEquals(done.head.runSync(), Some("good"))
    val errors = queue.dead(9).runSync().map(dead => (dead.payload, dead.error)).toMap
    assertEquals(errors("nul"), "java.lang.Exception: no  luck")
    assert(errors("mute").contains("Mute"), errors)

  test("each run is a worker of its own: one after the other, tried again, and side by side"):
    val (queue, _) = newQueue()
    val work = queue.stream(1, lease, deaf)(job => Task.pure(job.payload))
    for _ <- 1 to 2 do
      queue.offerAll(offers(3)).runSync(): Unit
      assertEquals(work.take(3).toList.runSync(), List("0", "1", "2"))
    val isFirst = AtomicBoolean(true)
    def failing = Task.when(isFirst.getAndSet(false))(Task.fail(Exception("once")))
    val again = Stream.exec(queue.offer(PgOffer("a"))) ++ work.evalTap(_ => failing)
    assertEquals(again.retry(Schedule.recurs(1)).head.runSync(), Some("a"))
    val both = CountDownLatch(2)
    val waiting = queue
      .stream(1, lease, deaf)(job => Task { both.countDown(); both.await(); job.payload })
      .head
    queue.offerAll(offers(2)).runSync(): Unit
    val (one, other) = Task.both(waiting, waiting).runSync()
    assertEquals(List(one, other).flatten.sorted, List("0", "1"))

  test("a slow consumer holds up no more jobs than three times the parallelism"):
    val (queue, _) = newQueue()
    queue.offerAll(offers(50)).runSync(): Unit
    val begun = AtomicInteger()
    val go = Deferred.unsafe[Unit]
    val running = queue
      .stream(4, lease, deaf)(_ => Task(begun.incrementAndGet()))
      .evalMap(_ => go.get)
      .take(50)
      .drain
      .start
      .runSync()
    eventually("as many as may have begun")(begun.get == 13) // one is read
    Thread.sleep(30)
    assertEquals(begun.get, 13)
    go.complete(()).runSync(): Unit
    running.joinOrFail.runSync()
    assertEquals(begun.get, 50)

  test("cancelled at any moment, no job is lost or held, and none that was emitted is run again"):
    val (queue, database) = newQueue()
    val seed = Tier.seed("weir.queue.seed")
    val random = Random(seed)
    val count = Tier(300, 5000)
    queue.offerAll(offers(count)).runSync(): Unit
    val emitted = ConcurrentLinkedQueue[String]()
    val afterwards = ConcurrentLinkedQueue[String]()
    def work = queue
      .stream(1 + random.nextInt(12), lease, deaf) { job =>
        if emitted.contains(job.payload) then afterwards.add(job.payload): Unit
        if random.nextInt(3) == 0 then Task.sleep(1.milli).as(job.payload)
        else Task(job.payload)
      }
      .evalMap(payload => Task(emitted.add(payload)))
    def left(condition: String) =
      server.ask(database)(s"SELECT count(*) FROM weir_queue.work WHERE $condition").toInt
    for round <- 1 to Tier(25, 500) do
      val waiting = left("true")
      if round % 4 == 0 && waiting > 0 then
        work.take(1 + random.nextInt(waiting.min(10))).drain.runSync()
      else
        val running = work.drain.start.runSync()
        Thread.sleep(random.nextInt(40), random.nextInt(900_000)) // any moment
        running.cancel.runSync()
      assertEquals(left("leased_until > now()"), 0, s"round $round, -Dweir.queue.seed=$seed")
    if left("true") > 0 then
      val running = work.drain.start.runSync()
      while left("true") > 0 do Thread.sleep(5)
      running.cancel.runSync()
    assertEquals(queue.counts.runSync(), PgQueue.Counts(0, 0, 0, 0), s"-Dweir.queue.seed=$seed")
    assertEquals(emitted.size, emitted.asScala.toSet.size)
    assertEquals(afterwards.size, 0)
