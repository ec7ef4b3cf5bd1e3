package weir.postgres.queue

import java.sql.DriverManager
import java.util.concurrent.ConcurrentLinkedQueue
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
