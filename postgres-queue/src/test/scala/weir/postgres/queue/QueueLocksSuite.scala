package weir.postgres.queue

import java.sql.DriverManager
import java.util.concurrent.{ConcurrentLinkedQueue, CountDownLatch}
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*
import scala.util.Using

import weir.{Deferred, Task}
import weir.postgres.queue.PgWorker.Event

/** Tests calls and streams that meet the row locks of other transactions. */
class QueueLocksSuite extends QueueFixture:
  test("a job that acknowledges itself in its own transaction holds up no other job"):
    val (queue, database) = newQueue()
    val ids = queue.offerAll(Vector("tx", "plain").map(PgOffer(_))).runSync()
    val events = ConcurrentLinkedQueue[Event]()
    val worker = PgWorker(listener = event => events.add(event): Unit)
    def ends = server
      .ask(database)(s"SELECT leased_until FROM weir_queue.work WHERE id = ${ids(1).get}")
    def awaitRenewal(): Unit =
      val before = ends
      eventually("the lease of the other job is renewed")(ends != before)
    val isDone = Deferred.unsafe[Unit]
    val results = queue
      .stream(2, 3.seconds, worker): job =>
        if job.payload == "tx" then
          Task(on(database): connection =>
            connection.setAutoCommit(false)
            queue.ackWithin(connection)(job).runSync()
            awaitRenewal()
            connection.commit()
            awaitRenewal()
            isDone.complete(()).runSync(): Unit
            "tx")
        else isDone.get.as("plain")
      .take(2)
      .toList
      .runSync()
    assertEquals(results.sorted, List("plain", "tx"))
    assertEquals(events.asScala.toList, Nil)

  test("revive leaves out a job whose key is being offered"):
    val (queue, database) = newQueue()
    for key <- List(Some("k"), None) do
      queue.offer(PgOffer("dead", key = key, maxAttempts = 1)).runSync(): Unit
      queue.nack(queue.take(1, lease).runSync().head, Duration.Zero, "").runSync(): Unit
    val ids = queue.dead(9).runSync().map(_.id)
    val inserted = "INSERT INTO weir_queue.work (payload, key) VALUES ('new', 'k')"
    assertEquals(behind(database, inserted)(queue.revive(ids)), 1)
    assertEquals(queue.counts.runSync(), PgQueue.Counts(2, 0, 0, 1))

  test("an offer that is the victim of a deadlock is repeated"):
    val (queue, database) = newQueue()
    def insert(key: String) =
      s"INSERT INTO weir_queue.work (payload, key) VALUES ('', '$key') ON CONFLICT DO NOTHING"
    Using.resource(DriverManager.getConnection(server.jdbc(database))) { other =>
      other.setAutoCommit(false)
      server.execute(other, "SET deadlock_timeout = '1min'") // so the offer notices it
      server.execute(other, insert("b"))
      val jobs = Vector("a", "b", "c").map(key => PgOffer("", key = Some(key)))
      val offering = queue.offerAll(jobs).start.runSync()
      awaitLock(database)
      server.execute(other, insert("a"))
      other.commit()
      assertEquals(offering.joinOrFail.runSync().map(_.nonEmpty), Vector(false, false, true))
    }

  test("a lease whose row was locked for two thirds of it is renewed in the last third"):
    val (queue, database) = newQueue()
    queue.offer(PgOffer("a")).runSync(): Unit
    val begun = CountDownLatch(1)
    val go = Deferred.unsafe[Unit]
    val events = ConcurrentLinkedQueue[Event]()
    val running = queue
      .stream(1, 3.seconds, PgWorker(listener = event => events.add(event): Unit))(job =>
        Task(begun.countDown()) >> go.get.as(job.attempt)
      )
      .take(1)
      .toList
      .start
      .runSync()
    await(begun)
    on(database): holder =>
      holder.setAutoCommit(false)
      server.execute(holder, "SELECT 1 FROM weir_queue.work FOR UPDATE")
      Thread.sleep(2200) // under test: the renewals at 1 s and at 2 s
      holder.commit()
    Thread.sleep(1500) // 0.7 s after the end of the first lease
    go.complete(()).runSync(): Unit
    assertEquals(running.joinOrFail.runSync(), List(1))
    assertEquals(events.asScala.toList, Nil)

  test("a job that is done and whose row another has locked holds up no other job"):
    val (queue, database) = newQueue()
    queue.offerAll(offers(2)).runSync(): Unit
    val begun = CountDownLatch(2)
    val first, second = Deferred.unsafe[Unit]
    val events = ConcurrentLinkedQueue[Event]()
    val running = queue
      .stream(2, 3.seconds, PgWorker(listens = false, listener = event => events.add(event): Unit))(
        job =>
          Task(begun.countDown()) >> (if job.id == 1 then first else second).get.as(job.attempt)
      )
      .take(2)
      .toList
      .start
      .runSync()
    await(begun)
    def ends = server.ask(database)("SELECT leased_until FROM weir_queue.work WHERE id = 2")
    on(database): holder =>
      holder.setAutoCommit(false)
      server.execute(holder, "SELECT 1 FROM weir_queue.work WHERE id = 1 FOR UPDATE")
      first.complete(()).runSync(): Unit
      for _ <- 1 to 2 do
        val before = ends
        eventually("the other is renewed")(ends != before)
      assertEquals(
        server.ask("postgres")(
          s"SELECT count(*) FROM pg_stat_activity WHERE datname = '$database' " +
            "AND wait_event_type = 'Lock'"
        ),
        "0"
      )
      holder.commit()
    second.complete(()).runSync(): Unit
    assertEquals(running.joinOrFail.runSync(), List(1, 1))
    assertEquals(events.asScala.toList, Nil)

  test("a foreign key to a job does not hold up its extension"):
    val (queue, database) = newQueue()
    queue.offer(PgOffer("a")).runSync(): Unit
    val job = queue.take(1, lease).runSync().head
    on(database): connection =>
      server.execute(
        connection,
        "CREATE TABLE progress (job bigint REFERENCES weir_queue.work ON DELETE CASCADE)"
      )
      connection.setAutoCommit(false)
      server.execute(connection, s"INSERT INTO progress VALUES (${job.id})")
      val (took, _) = queue.extend(job, lease).timed.runSync()
      assert(took < 5.seconds)
      connection.commit()

  test("an error after the commit of its ackWithin is told"):
    val (queue, database) = newQueue()
    queue.offer(PgOffer("a")).runSync(): Unit
    val events = ConcurrentLinkedQueue[Event]()
    val running = queue
      .stream(1, lease, PgWorker(listener = event => events.add(event): Unit))(job =>
        Task(on(database): connection =>
          connection.setAutoCommit(false)
          queue.ackWithin(connection)(job).runSync()
          connection.commit()) >> Task.fail(RuntimeException("after"))
      )
      .drain
      .start
      .runSync()
    eventually("an event")(!events.isEmpty)
    running.cancel.runSync()
    assert(events.peek.isInstanceOf[Event.Failed], events)
