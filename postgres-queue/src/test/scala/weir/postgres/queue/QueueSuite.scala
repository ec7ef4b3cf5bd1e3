package weir.postgres.queue

import java.sql.DriverManager
import java.time.Instant
import scala.concurrent.duration.*
import scala.util.Using

import org.postgresql.PGConnection
import weir.{Task, WeirRuntime}
import weir.metrics.DeadJobs
import weir.postgres.*
import weir.postgres.queue.PgQueueException.Kind
import weir.postgres.queue.tables.{Jdbc, QueueCalls, QueueTables}

/** One call after the other, on a real server. */
class QueueSuite extends QueueFixture:
  test("a job is taken once, and is gone when it is acknowledged"):
    val (queue, _) = newQueue()
    val id = queue.offer(PgOffer("a")).runSync()
    val taken = queue.take(5, lease).runSync()
    assertEquals(taken.map(job => (Option(job.id), job.payload, job.attempt)), Vector((id, "a", 1)))
    assertEquals(queue.take(5, lease).runSync(), Vector.empty)
    queue.ack(taken.head).runSync()
    assertEquals(queue.counts.runSync(), PgQueue.Counts(0, 0, 0, 0))

  test("jobs come by priority, then by time, then by number; count is a limit"):
    val (queue, _) = newQueue()
    val past = Instant.now().minusSeconds(60)
    queue
      .offerAll(
        Vector(
          PgOffer("late"),
          PgOffer("later"),
          PgOffer("early", runAt = Some(past)),
          PgOffer("high", priority = 7),
          PgOffer("low", priority = -1)
        )
      )
      .runSync(): Unit
    assertEquals(
      queue.take(3, lease).runSync().map(_.payload),
      Vector("high", "early", "late")
    )
    assertEquals(queue.take(9, lease).runSync().map(_.payload), Vector("later", "low"))

  test("a key that is in the queue is not added again, waiting or leased, and is when it is done"):
    val (queue, _) = newQueue()
    val twice = Vector(
      PgOffer("1", key = Some("k")),
      PgOffer("2"),
      PgOffer("3", key = Some("k")),
      PgOffer("4", key = Some("l"))
    )
    val ids = queue.offerAll(twice).runSync()
    assertEquals(ids.map(_.nonEmpty), Vector(true, true, false, true))
    assertEquals(queue.offer(PgOffer("5", key = Some("k"))).runSync(), None)
    val jobs = queue.take(9, lease).runSync()
    assertEquals(
      jobs.map(job => (Option(job.id), job.payload)),
      Vector(
        (ids(0), "1"),
        (ids(1), "2"),
        (ids(3), "4")
      )
    )
    assertEquals(queue.offer(PgOffer("6", key = Some("k"))).runSync(), None)
    queue.ack(jobs.head).runSync()
    assert(queue.offer(PgOffer("7", key = Some("k"))).runSync().nonEmpty)

  test("a lease that has ended lets another take the job; the first worker is refused"):
    val (queue, database) = newQueue()
    queue.offer(PgOffer("a")).runSync(): Unit
    val stale = queue.take(1, lease).runSync().head
    endLeases(database)
    val fresh = queue.take(1, lease).runSync().head
    assertEquals((fresh.id, fresh.attempt), (stale.id, 2))
    assert(fresh.token > stale.token)
    val said = refused(Kind.LeaseLost)(queue.ack(stale).runSync())
    assert(said.contains(s"no longer holds job ${stale.id} (attempt 1 of 10)"), said)
    refused(Kind.LeaseLost)(queue.extend(stale, lease).runSync()): Unit
    refused(Kind.LeaseLost)(queue.nack(stale, 1.second, "late").runSync()): Unit
    refused(Kind.LeaseLost)(queue.giveBack(stale).runSync()): Unit
    assertEquals(queue.ackAll(Vector(stale, fresh)).runSync(), Vector(stale))
    refused(Kind.LeaseLost)(queue.ack(fresh).runSync()): Unit

  test("an acknowledgement is accepted after the lease, if nobody has taken the job"):
    val (queue, database) = newQueue()
    queue.offer(PgOffer("a")).runSync(): Unit
    val job = queue.take(1, lease).runSync().head
    endLeases(database)
    queue.ack(job).runSync()

  test("what was offered for later is ready, and is taken by hand, once it is due"):
    val (queue, database) = newQueue()
    val later = Instant.now().plusSeconds(3600)
    queue.offer(PgOffer("a", runAt = Some(later))).runSync(): Unit
    assertEquals(queue.counts.runSync(), PgQueue.Counts(0, 0, 1, 0))
    assertEquals(queue.oldest.runSync(), None)
    on(database)(server.execute(_, "UPDATE weir_queue.work SET run_at = now() - interval '1 h'"))
    assertEquals(queue.counts.runSync(), PgQueue.Counts(1, 0, 0, 0))
    assert(queue.oldest.runSync().exists(_ > 59.minutes))
    assertEquals(queue.take(5, lease).runSync().map(_.payload), Vector("a"))

  test("a report ends the holding: what comes after it is refused"):
    val (queue, _) = newQueue()
    type Report = PgJob[String] => Task[Any]
    val reports = List[Report](queue.giveBack(_), queue.nack(_, Duration.Zero, "no"))
    val laters = reports ++ List[Report](queue.ack(_), queue.extend(_, lease))
    queue.offer(PgOffer("a", maxAttempts = 9)).runSync(): Unit
    for report <- reports; later <- laters do
      val job = queue.take(1, lease).runSync().head
      report(job).runSync(): Unit
      refused(Kind.LeaseLost)(later(job).runSync()): Unit
    // Each of the four that failed counts, and none that was given back does.
    assertEquals(queue.take(1, lease).runSync().map(_.attempt), Vector(5))

  test(
    "what is given back can be taken at once, and its attempt does not count, but its token does"
  ):
    val (queue, _) = newQueue()
    queue.offer(PgOffer("a", maxAttempts = 1)).runSync(): Unit
    val first = queue.take(1, lease).runSync().head
    queue.giveBack(first).runSync()
    val second = queue.take(1, lease).runSync().head
    assertEquals((second.attempt, second.isLastAttempt), (1, true))
    refused(Kind.LeaseLost)(queue.ack(first).runSync()): Unit

  test("a job that fails waits, says why, and is dead after its last attempt; it can be revived"):
    val (queue, database) = newQueue()
    queue.offer(PgOffer("a", maxAttempts = 2, key = Some("k"))).runSync(): Unit
    val first = queue.take(1, lease).runSync().head
    assertEquals(queue.nack(first, 1.hour, "no\u0000 luck").runSync(), true)
    assertEquals(queue.counts.runSync(), PgQueue.Counts(0, 0, 1, 0))
    on(database)(server.execute(_, "UPDATE weir_queue.work SET run_at = now()"))
    val second = queue.take(1, lease).runSync().head
    assertEquals(second.lastError, Some("no  luck"))
    assertEquals(queue.nack(second, Duration.Zero, "again").runSync(), false)
    val dead = queue.dead(10).runSync()
    assertEquals(
      dead.map(d => (d.id, d.payload, d.attempts, d.error, d.key)),
      Vector((second.id, "a", 2, "again", Some("k")))
    )
    assertEquals(queue.revive(dead.map(_.id)).runSync(), 1)
    val risen = queue.take(1, lease).runSync().head
    assertEquals((risen.payload, risen.attempt, risen.id > second.id), ("a", 1, true))

  test("revived, two with one key are one job, and the other stays dead"):
    val (queue, _) = newQueue()
    for i <- 1 to 2 do
      queue.offer(PgOffer(s"$i", maxAttempts = 1, key = Some("k"))).runSync(): Unit
      queue.nack(queue.take(1, lease).runSync().head, Duration.Zero, "").runSync(): Unit
    val ids = queue.dead(9).runSync().map(_.id)
    assertEquals(queue.revive(ids).runSync(), 1)
    assertEquals(queue.revive(ids).runSync(), 0)
    assertEquals(queue.counts.runSync(), PgQueue.Counts(1, 0, 0, 1))

  test("a job whose workers all die is dead after its last attempt"):
    val (queue, database) = newQueue()
    queue.offerAll(Vector(PgOffer("poison", maxAttempts = 2), PgOffer("good"))).runSync(): Unit
    for _ <- 1 to 2 do
      assertEquals(queue.take(1, lease).runSync().map(_.payload), Vector("poison"))
      endLeases(database)
    assertEquals(queue.take(1, lease).runSync().map(_.payload), Vector("good"))
    assertEquals(
      queue.dead(9).runSync().map(d => (d.payload, d.attempts, d.error)),
      Vector(("poison", 2, "the lease of its last attempt ran out"))
    )

  test(
    "an offer in the caller's transaction is there from its commit on, and never if it is undone"
  ):
    val (queue, database) = newQueue()
    on(database): connection =>
      connection.setAutoCommit(false)
      queue.offerWithin(connection)(Vector(PgOffer("undone"))).runSync(): Unit
      connection.rollback()
      queue.offerWithin(connection)(Vector(PgOffer("kept"))).runSync(): Unit
      assertEquals(queue.take(5, lease).runSync(), Vector.empty)
      connection.commit()
    assertEquals(queue.take(5, lease).runSync().map(_.payload), Vector("kept"))

  test("an offer, a job that is given back and a revived one notify, unless they are not to"):
    val (loud, database) = newQueue()
    def connect() = DriverManager.getConnection(server.jdbc(database))
    val quiet = PgQueue(() => connect(), "work", PgCodec.text, notifies = false)
    def tell(queue: PgQueue[String]): Unit =
      queue.offer(PgOffer("a", maxAttempts = 1)).runSync(): Unit
      queue.giveBack(queue.take(1, lease).runSync().head).runSync()
      queue.nack(queue.take(1, lease).runSync().head, Duration.Zero, "").runSync(): Unit
      assertEquals(queue.revive(queue.dead(1).runSync().map(_.id)).runSync(), 1)
      queue.ack(queue.take(1, lease).runSync().head).runSync()
    Using.resource(connect()): listener =>
      server.execute(listener, "LISTEN weir_queue_work")
      val driver = listener.unwrap(classOf[PGConnection])
      def said(queue: PgQueue[String]): Int =
        tell(queue)
        on(database)(server.execute(_, "NOTIFY weir_queue_work, 'end'"))
        Iterator
          .continually(driver.getNotifications(10_000))
          .flatten
          .map(_.getParameter)
          .takeWhile(_ != "end")
          .size
      assertEquals((said(loud), said(quiet)), (3, 0))

  test("an acknowledgement in the caller's transaction is undone with it"):
    val (queue, database) = newQueue()
    queue.offer(PgOffer("a")).runSync(): Unit
    val job = queue.take(1, lease).runSync().head
    on(database): connection =>
      connection.setAutoCommit(false)
      queue.ackWithin(connection)(job).runSync()
      connection.rollback()
      queue.ackWithin(connection)(job).runSync()
      connection.commit()
      refused(Kind.LeaseLost)(queue.ackWithin(connection)(job).runSync()): Unit

  test("payloads may be bytes, or JSON that SQL can read; others come by imap"):
    val database = server.newDatabase()
    def make[A](name: String, codec: PgCodec[A]): PgQueue[A] =
      val queue = PgQueue(() => DriverManager.getConnection(server.jdbc(database)), name, codec)
      queue.create.runSync()
      queue
    val bytes = make("bytes", PgCodec.bytes)
    val all = Array.tabulate(256)(_.toByte)
    bytes.offerAll(Vector(PgOffer(all), PgOffer(Array.empty[Byte]))).runSync(): Unit
    assertEquals(bytes.take(2, lease).runSync().map(_.payload.toSeq), Vector(all.toSeq, Seq()))
    val json = make("json", PgCodec.jsonb)
    json.offer(PgOffer("""{"to": "ä\"\\", "n": [1, null]}""")).runSync(): Unit
    assertEquals(server.ask(database)("SELECT payload->>'to' FROM weir_queue.json"), "ä\"\\")
    assert(json.offer(PgOffer("{")).attempt.runSync().isLeft)
    val numbers = make("numbers", PgCodec.text.imap(_.toInt)(_.toString))
    numbers.offer(PgOffer(7)).runSync(): Unit
    assertEquals(numbers.take(1, lease).runSync().head.payload + 1, 8)

  test("text with U+0000 is refused before the server is asked, with what to do"):
    def unreachable[A](codec: PgCodec[A]): PgQueue[A] =
      PgQueue(() => fail("it was asked for a connection"), "work", codec)
    def said[A](codec: PgCodec[A])(jobs: PgOffer[A]*): String =
      refused(Kind.NotStorable)(unreachable(codec).offerAll(jobs).runSync())
    val good = PgOffer("a\u0001")
    assertEquals(
      said(PgCodec.text)(good, PgOffer("ab\u0000c")),
      "PgQueue: weir_queue.work: the payload of offer 2 of 2 has the character U+0000 at index " +
        "2. Postgres cannot store it in text. Remove it, or use PgCodec.bytes."
    )
    val key = said(PgCodec.text)(PgOffer("a", key = Some("\u0000")))
    assert(key.contains("the key of offer 1 of 1 has the character U+0000 at index 0"), key)
    assert(key.endsWith("Postgres cannot store it in text. Remove it."), key)
    val json = said(PgCodec.jsonb)(PgOffer("""["\\\\u0000", "\\\u0000"]"""))
    assert(json.contains("has the escape \\u0000 at index 17"), json)
    val half = said(PgCodec.text)(PgOffer("\ud83d\ude00 \ud83d"))
    assert(half.contains("has half a character, U+D83D, at index 3"), half)
    val within = refused(Kind.NotStorable)(
      on("postgres")(unreachable(PgCodec.text).offerWithin(_)(Seq(PgOffer("\u0000"))).runSync())
    )
    assert(within.contains("the payload of offer 1 of 1"), within)
    val name = intercept[IllegalArgumentException](PgWorker(name = "me\u0000")).getMessage
    assert(name.contains("PgWorker: the name has the character U+0000 at index 2."), name)

  test("a time or a key that cannot be stored is refused before the server is asked"):
    val unreachable = PgQueue(() => fail("it was asked"), "work", PgCodec.text)
    def said(job: PgOffer[String]): String =
      refused(Kind.NotStorable)(unreachable.offerAll(Vector(PgOffer("a"), job)).runSync())
    for time <- List(Instant.MAX, Instant.MIN, Instant.parse("0000-12-31T23:59:59Z")) do
      val text = said(PgOffer("b", runAt = Some(time)))
      assert(text.contains(s"the runAt of offer 2 of 2 is $time"), text)
    val text = said(PgOffer("b", key = Some("\u00e4" * 1301)))
    assert(text.contains("the key of offer 2 of 2 has 2602 bytes"), text)
    val (queue, _) = newQueue()
    val random = scala.util.Random(1)
    val longest = Vector.fill(2600)(('!' + random.nextInt(90)).toChar).mkString
    val ends = Vector("0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999999Z").map(Instant.parse)
    val jobs = PgOffer("", key = Some(longest)) +: ends.map(at => PgOffer("", runAt = Some(at)))
    assert(queue.offerAll(jobs).runSync().forall(_.nonEmpty))

  test("the error of a job is kept in a database of another encoding, as far as it can be"):
    val database = "latin_queue"
    on("postgres")(
      server.execute(
        _,
        s"CREATE DATABASE $database ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' " +
          "TEMPLATE template0"
      )
    )
    try
      val queue = queueIn(server.jdbc(database))
      queue.create.runSync()
      queue.offer(PgOffer("a")).runSync(): Unit
      val job = queue.take(1, lease).runSync().head
      assertEquals(queue.nack(job, Duration.Zero, "10 \u20ac \ud83d\ude00!").runSync(), true)
      assertEquals(queue.take(1, lease).runSync().head.lastError, Some("10 ? ?!"))
    finally on("postgres")(server.execute(_, s"DROP DATABASE $database WITH (FORCE)"))

  test("takers at the same time never get the same job, and together all of them"):
    val (queue, _) = newQueue()
    queue.offerAll(offers(400)).runSync(): Unit
    def drain: Task[Vector[Long]] = queue
      .take(7, lease)
      .flatMap(jobs =>
        if jobs.isEmpty then Task.pure(Vector.empty)
        else drain.map(jobs.map(_.id) ++ _)
      )
    val ids = Task.parSequence(List.fill(6)(drain)).runSync().flatten
    assertEquals((ids.size, ids.toSet.size), (400, 400))

  test("the plan that was made for an empty queue is not kept for a full one"):
    val (_, database) = newQueue()
    on(database): connection =>
      val calls = QueueCalls(QueueTables("weir_queue", "work", PgCodec.Column.Text), PgCodec.text)
      def take(n: Int) = Jdbc.transaction(connection)(calls.take(connection, n, 1000, "me"))
      for _ <- 1 to 12 do assertEquals(take(5), Vector.empty)
      server.execute(
        connection,
        "INSERT INTO weir_queue.work (payload) " +
          "SELECT repeat('x', 200) FROM generate_series(1, 20000)"
      )
      for _ <- 1 to 3 do assertEquals(take(5).size, 5)
    eventually("the server has counted")(scans(database, "idx_scan") >= 15)
    assertEquals(scans(database, "seq_tup_read"), 0L) // the scans that made the indexes read no row

  private def scans(database: String, column: String): Long = server
    .ask(database)(s"SELECT $column FROM pg_stat_user_tables WHERE relname = 'work'")
    .toLong

  test("a queue that is watched has figures, and dead jobs to look at, put back or delete"):
    val (queue, database) = newQueue()
    val past = Instant.now().minusSeconds(60)
    queue.offer(PgOffer("old", runAt = Some(past))).runSync(): Unit
    queue.offer(PgOffer("later", runAt = Some(Instant.now().plusSeconds(3600)))).runSync(): Unit
    for payload <- List("dies", "dies too") do
      val id = queue.offer(PgOffer(payload, priority = 9, maxAttempts = 1)).runSync()
      val job = queue.take(1, lease).runSync().head
      assertEquals(Option(job.id), id)
      queue.nack(job, 0.seconds, "no answer").runSync(): Unit
    def value(metric: String, attributes: (String, String)*): Option[Double] =
      WeirRuntime.default.metrics
        .filter(_.name == metric)
        .flatMap(_.points)
        .find(_.attributes == Vector("name" -> "weir_queue.work") ++ attributes)
        .map(_.value)
    def jobs(state: String): Option[Double] = value("weir.pg_queue.jobs", "state" -> state)
    val watch = queue.watched(1.second).use { _ =>
      Task {
        eventually("counted")(jobs("ready").contains(1.0))
        assertEquals(
          List("leased", "delayed", "dead").map(jobs),
          List(Some(0.0), Some(1.0), Some(2.0))
        )
        assert(value("weir.pg_queue.oldest").exists(age => age >= 60 && age < 180))
        val dead = DeadJobs.registered.find(_.name == "weir_queue.work").get
        val found = dead.list(9)
        assertEquals(found.map(_.error), Vector("no answer", "no answer"))
        assertEquals(dead.revive(Vector(found(0).id)), 1)
        assertEquals(dead.delete(found.map(_.id)), 1)
        eventually("counted again")(jobs("dead").contains(0.0) && jobs("ready").contains(2.0))
        on(database)(server.execute(_, "ALTER TABLE weir_queue.work RENAME TO gone"))
        eventually("no figures while the table is gone")(jobs("ready").isEmpty)
      }
    }
    watch.runSync()
    assertEquals(jobs("ready"), None)
    assert(!DeadJobs.registered.exists(_.name == "weir_queue.work"))
    intercept[IllegalArgumentException](queue.watched(10.millis)): Unit
