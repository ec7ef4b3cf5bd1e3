package weir.postgres.queue

import java.sql.DriverManager
import java.util.concurrent.{ConcurrentHashMap, ConcurrentLinkedQueue, CountDownLatch}
import java.util.concurrent.atomic.AtomicInteger
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*
import scala.util.Using

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

  /** Runs `task` once, which must wait for a row that `sql` has changed, and then commits that
    * change.
    */
  private def behind[R](database: String, sql: String)(task: => Task[R]): R =
    Using.resource(DriverManager.getConnection(server.jdbc(database))) { holder =>
      holder.setAutoCommit(false)
      server.execute(holder, sql)
      val running = task.start.runSync()
      awaitLock(database)
      holder.commit()
      running.joinOrFail.runSync()
    }

  private def awaitLock(database: String): Unit = eventually("a session waits for the row")(
    server.ask("postgres")(
      s"SELECT count(*) FROM pg_stat_activity WHERE datname = '$database' " +
        "AND wait_event_type = 'Lock'"
    ) == "1"
  )

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

  test("a renewal that meets a change of the row renews, and nobody is told of an outage"):
    val (queue, database) = newStrictQueue()
    queue.offer(PgOffer("a")).runSync(): Unit
    val begun = CountDownLatch(1)
    val go = Deferred.unsafe[Unit]
    val events = ConcurrentLinkedQueue[Event]()
    val worker = PgWorker(poll = 1.hour, listener = event => events.add(event): Unit)
    val running = queue
      .stream(1, 6.seconds, worker)(job => Task(begun.countDown()) >> go.get.as(job.attempt))
      .head
      .start
      .runSync()
    await(begun)
    def ends = server.ask(database)("SELECT leased_until FROM weir_queue.work")
    val first = ends
    behind(database, changed(1))(Task.unit)
    eventually("the lease ends later")(ends != first)
    go.complete(()).runSync(): Unit
    assertEquals(running.joinOrFail.runSync(), Some(1))
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
