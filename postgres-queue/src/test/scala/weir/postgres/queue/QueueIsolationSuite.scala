package weir.postgres.queue

import java.util.concurrent.{ConcurrentHashMap, ConcurrentLinkedQueue, CountDownLatch}
import java.util.concurrent.atomic.AtomicInteger
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*

import weir.{Deferred, Task, Tier}
import weir.postgres.queue.PgWorker.Event

/** Queues in a database whose transactions are serializable by default: a statement that meets a
  * row which another transaction has just changed would be refused there (40001).
  */
class QueueIsolationSuite extends QueueFixture:
  private def newStrictQueue(): (PgQueue[String], String) =
    val (queue, database) = newQueue()
    on(database)(
      server.execute(
        _,
        s"ALTER DATABASE $database SET default_transaction_isolation = 'serializable'"
      )
    )
    (queue, database)

  private def changed(id: Long) =
    s"UPDATE weir_queue.work SET priority = priority + 1 WHERE id = $id"

  test("what is said of a job whose row has just been changed by another is said"):
    val (queue, database) = newStrictQueue()
    val sayings = List[PgJob[String] => Task[Any]](
      queue.extend(_, lease),
      queue.giveBack(_),
      queue.nack(_, Duration.Zero, "no"),
      queue.ack(_)
    )
    queue.offer(PgOffer("a")).runSync(): Unit
    for say <- sayings do
      endLeases(database)
      val job = queue.take(1, lease).runSync().head
      behind(database, changed(job.id))(say(job)): Unit
    assertEquals(queue.counts.runSync(), PgQueue.Counts(0, 0, 0, 0))

  test("an offer whose key another has just offered adds nothing"):
    val (queue, database) = newStrictQueue()
    val inserted = "INSERT INTO weir_queue.work (payload, key) VALUES ('a', 'k')"
    val offered = PgOffer("b", key = Some("k"))
    assertEquals(behind(database, inserted)(queue.offer(offered)), None)
    assertEquals(queue.counts.runSync(), PgQueue.Counts(1, 0, 0, 0))

  test("a renewal leaves out a row that another has locked, and comes again; nobody is told"):
    val (queue, database) = newStrictQueue()
    queue.offerAll(offers(2)).runSync(): Unit
    val begun = CountDownLatch(2)
    val go = Deferred.unsafe[Unit]
    val events = ConcurrentLinkedQueue[Event]()
    val worker = PgWorker(poll = 1.hour, listener = event => events.add(event): Unit)
    val running = queue
      .stream(2, 3.seconds, worker)(job => Task(begun.countDown()) >> go.get.as(job.attempt))
      .take(2)
      .toList
      .start
      .runSync()
    await(begun)
    def ends(id: Int) =
      server.ask(database)(s"SELECT leased_until FROM weir_queue.work WHERE id = $id")
    val first = List(1, 2).map(ends)
    on(database): holder =>
      holder.setAutoCommit(false)
      server.execute(holder, changed(1))
      eventually("the lease of the other ends later")(ends(2) != first(1))
      assertEquals(ends(1), first(0))
      holder.commit()
    eventually("the lease ends later")(ends(1) != first(0))
    go.complete(()).runSync(): Unit
    assertEquals(running.joinOrFail.runSync(), List(1, 1))
    assertEquals(events.asScala.toList, Nil)

  test("workers side by side run each job once, and none is told of an outage"):
    val (queue, _) = newStrictQueue()
    val count = Tier(1500, 20_000)
    val events = ConcurrentLinkedQueue[Event]()
    val runs = ConcurrentHashMap[String, AtomicInteger]()
    val ended = CountDownLatch(count)
    def worker = queue.stream(
      4,
      lease,
      PgWorker(poll = 20.millis, listener = event => events.add(event): Unit)
    )(job =>
      Task {
        runs.computeIfAbsent(job.payload, _ => AtomicInteger()).incrementAndGet(): Unit
        ended.countDown()
      }
    )
    val workers = List.fill(6)(worker.drain.start.runSync())
    offers(count).grouped(50).foreach(some => queue.offerAll(some).runSync(): Unit)
    await(ended)
    eventually("all is acknowledged")(queue.counts.runSync() == PgQueue.Counts(0, 0, 0, 0))
    workers.foreach(_.cancel.runSync())
    assertEquals(events.asScala.map(_.toString).toSet, Set.empty[String])
    assertEquals(runs.values.asScala.map(_.get).toSet, Set(1))
