package weir.postgres.queue.tables
import java.sql.{Connection, DriverManager}
import weir.Task
import weir.postgres.queue.*
import weir.postgres.queue.PgQueueException.Kind

/** Tables of earlier and of later versions. */
class TableVersionsSuite extends QueueFixture:
  import TableVersionsSuite.*

  /** A database with tables of version 1, and the jobs a (due), b (delayed), c (leased, twice
    * tried), d and e (dead).
    */
  private def firstVersion(): String =
    val database = server.newDatabase()
    on(database)(server.execute(_, firstTables + firstJobs))
    database

  private def queue(database: String, name: String = "work"): PgQueue[String] =
    PgQueue(() => DriverManager.getConnection(server.jdbc(database)), name, PgCodec.text)

  /** The columns, indexes, settings and comments of the tables. */
  private def layout(database: String): String = server.ask(database)(
    """SELECT string_agg(line, E'\n' ORDER BY line) FROM (
      |SELECT concat_ws(' ', table_name, ordinal_position, column_name, data_type, is_nullable,
      |  column_default, identity_generation) AS line
      |  FROM information_schema.columns WHERE table_schema = 'weir_queue'
      |UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'weir_queue'
      |UNION ALL SELECT concat_ws(' ', relname, reloptions::text, obj_description(oid))
      |  FROM pg_class WHERE relnamespace = to_regnamespace('weir_queue')
      |UNION ALL SELECT concat_ws(' ', conname, pg_get_constraintdef(oid))
      |  FROM pg_constraint WHERE connamespace = to_regnamespace('weir_queue')) lines""".stripMargin
  )

  private def versions(database: String, name: String = "work"): String = server.ask(database)(
    "SELECT string_agg(version::text, ',' ORDER BY version) FROM weir_queue.queue$versions " +
      s"WHERE queue = '$name'"
  )

  test("tables of version 1 are migrated with their jobs, and are then what create makes"):
    val database = firstVersion()
    val work = queue(database)
    work.create.runSync()
    assertEquals(versions(database), "1,2")
    val (_, fresh) = newQueue()
    assertEquals(layout(database), layout(fresh))
    assertEquals(
      work.counts.runSync(),
      PgQueue.Counts(ready = 1, leased = 1, delayed = 1, dead = 2)
    )
    assertEquals(
      work.dead(9).runSync().map(d => (d.id, d.payload, d.attempts, d.error, d.key)),
      Vector((5L, "e", 1, "late", Some("k")), (4L, "d", 2, "early", None))
    )
    endLeases(database)
    val taken = work.take(9, lease).runSync()
    assertEquals(taken.map(job => (job.payload, job.attempt)).toSet, Set(("a", 1), ("c", 3)))
    assertEquals(taken.find(_.payload == "c").map(_.token), Some(3))
    assertEquals(work.ackAll(taken).runSync(), Vector.empty)

  test("tables of version 1 are refused until they are migrated, with what to do"):
    val database = firstVersion()
    val work = queue(database)
    assertEquals(
      refused(Kind.OtherVersion)(work.offer(PgOffer("f")).runSync()),
      "PgQueue: the tables of weir_queue.work have version 1, and this Weir needs version 2. " +
        "Migrate them with `queue.create`, or with the statements of `queue.ddlSince(1)`."
    )
    refused(Kind.OtherVersion)(work.stream(1, lease)(_ => Task.unit).drain.runSync()): Unit
    on(database)(server.execute(_, work.ddlSince(1)))
    assert(work.offer(PgOffer("f")).runSync().nonEmpty)
    assertEquals(versions(database), "1,2")
    assertEquals(work.ddlSince(2), "")

  test("many processes migrate at once, and each migration is made once"):
    for database <- List(firstVersion(), server.newDatabase()) do
      val creates = Vector.tabulate(12)(i => queue(database, s"work${i % 3}").create)
      Task.parSequence(creates ++ Vector.fill(6)(queue(database).create)).runSync(): Unit
      for name <- List("work", "work0", "work1", "work2") do
        assertEquals(versions(database, name), "1,2", name)
        assert(queue(database, name).offer(PgOffer("a")).runSync().nonEmpty)

  test("a migration waits for one that another process has begun, and leaves it as it is"):
    val database = firstVersion()
    val held = DriverManager.getConnection(server.jdbc(database))
    try
      held.setAutoCommit(false)
      server.execute(held, "SELECT pg_advisory_xact_lock(hashtext('weir_queue.queue$versions'))")
      server.execute(held, queue(database).ddlSince(1))
      val running = queue(database).create.start.runSync()
      eventually("it waits for the lock")(
        server.ask(database)(
          "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted " +
            s"AND database = (SELECT oid FROM pg_database WHERE datname = '$database')"
        ) == "1"
      )
      held.commit()
      running.joinOrFail.runSync()
    finally held.close()
    assertEquals(versions(database), "1,2")

  test("tables that a newer Weir has migrated are refused, and left as they are"):
    val (work, database) = newQueue()
    work.offer(PgOffer("a")).runSync(): Unit
    on(database)(
      server.execute(_, "INSERT INTO weir_queue.queue$versions VALUES ('work', 3), ('other', 9)")
    )
    val before = layout(database)
    val said = "PgQueue: the tables of weir_queue.work have version 3, and this Weir knows none " +
      "after 2. A newer Weir has migrated them. Use it here."
    assertEquals(refused(Kind.OtherVersion)(queue(database).take(1, lease).runSync()), said)
    assertEquals(refused(Kind.OtherVersion)(queue(database).create.runSync()), said)
    assertEquals((layout(database), versions(database)), (before, "1,2,3"))

  test("a migration that fails leaves the tables as they were, and can be run again"):
    val database = firstVersion()
    val before = layout(database)
    on(database)(server.execute(_, "CREATE VIEW weir_queue.work_dead_at AS SELECT 1"))
    val failed = queue(database).create.attempt.runSync()
    assert(failed.left.exists(_.getMessage.contains("\"work_dead_at\" already exists")), failed)
    on(database)(server.execute(_, "DROP VIEW weir_queue.work_dead_at"))
    assertEquals(layout(database), before)
    queue(database).create.runSync()
    assertEquals(queue(database).counts.runSync().ready, 1L)

  test("tables that were dropped are created again, and those of version 1 migrated, by any name"):
    val (work, database) = newQueue()
    on(database)(server.execute(_, "DROP TABLE weir_queue.work, weir_queue.work_dead"))
    refused(Kind.NoTable)(queue(database).take(1, lease).runSync()): Unit
    queue(database).create.runSync()
    assert(work.offer(PgOffer("a")).runSync().nonEmpty)
    on(database): connection =>
      server.execute(connection, "DROP TABLE weir_queue.work, weir_queue.work_dead")
      server.execute(connection, firstTables.replace("CREATE SCHEMA weir_queue;", ""))
    refused(Kind.OtherVersion)(queue(database).take(1, lease).runSync()): Unit
    queue(database).create.runSync()
    assert(server.ask(database)("SELECT to_regclass('weir_queue.work_dead_at')") != null)

  test("without the table of versions a queue says what is missing"):
    val (_, database) = newQueue()
    on(database)(server.execute(_, "DROP TABLE weir_queue.queue$versions"))
    val said = refused(Kind.OtherVersion)(queue(database).create.runSync())
    assert(said.contains("is not in weir_queue.queue$versions. Restore that table"), said)

  test("a user who may create nothing uses the tables, and is told if they must be migrated"):
    for (database, isCurrent) <- List(newQueue()._2 -> true, firstVersion() -> false) do
      asPoor(database) { connect =>
        val work = PgQueue(connect, "work", PgCodec.text)
        if isCurrent then
          work.create.runSync()
          assert(work.offer(PgOffer("a")).runSync().nonEmpty)
        else
          val said = refused(Kind.NotPermitted)(work.create.runSync())
          assert(said.contains("permission denied for schema weir_queue"), said)
          assert(
            said.endsWith("the user needs CREATE on the database or schema, and must own them.")
          )
          val offer = refused(Kind.OtherVersion)(work.offer(PgOffer("a")).runSync())
          assert(offer.contains("have version 1, and this Weir needs version 2"), offer)
      }

  /** Runs `body` with connections of a user that may read and write all tables there are. */
  private def asPoor(database: String)(body: (() => Connection) => Unit): Unit =
    val user = s"poor_versions_$database"
    on(database): connection =>
      server.execute(
        connection,
        s"CREATE ROLE $user LOGIN PASSWORD 'x'; GRANT USAGE ON SCHEMA weir_queue TO $user; " +
          s"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA weir_queue TO $user"
      )
    val own = "user=postgres&password=postgres"
    val url = server.jdbc(database).replace(own, s"user=$user&password=x")
    try body(() => DriverManager.getConnection(url))
    finally on(database)(server.execute(_, s"DROP OWNED BY $user; DROP ROLE $user"))

  test("ddl makes what create makes, and knows its versions only"):
    val database = server.newDatabase()
    on(database)(server.execute(_, "CREATE SCHEMA weir_queue; " + queue(database).ddl))
    val (work, fresh) = newQueue()
    assertEquals(layout(database), layout(fresh))
    assertEquals(work.ddlSince(0), work.ddl)
    for version <- List(-1, 3) do
      val said = intercept[IllegalArgumentException](work.ddlSince(version)).getMessage
      assert(said.contains(s"version was $version. It must be 0 to 2."), said)

  test("dead jobs are listed by an index"):
    val (_, database) = newQueue()
    val plan = on(database): connection =>
      server.execute(connection, "SET enable_seqscan = off; SET enable_sort = off")
      val rows = connection
        .createStatement()
        .executeQuery(
          "EXPLAIN SELECT id FROM weir_queue.work_dead ORDER BY died_at DESC, id DESC LIMIT 5"
        )
      Iterator.continually(rows).takeWhile(_.next()).map(_.getString(1)).mkString("\n")
    assert(plan.contains("work_dead_at"), plan)

object TableVersionsSuite:
  /** The tables that `create` made for the queue `work` before migrations. Never change them. */
  private val firstTables =
    """CREATE SCHEMA weir_queue;
      |CREATE TABLE weir_queue.work (
      |  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      |  run_at timestamptz NOT NULL DEFAULT now(),
      |  leased_until timestamptz,
      |  priority integer NOT NULL DEFAULT 0,
      |  attempts integer NOT NULL DEFAULT 0,
      |  max_attempts integer NOT NULL DEFAULT 10,
      |  token integer NOT NULL DEFAULT 0,
      |  is_due boolean NOT NULL DEFAULT true,
      |  worker text,
      |  key text,
      |  error text,
      |  payload text NOT NULL
      |) WITH (
      |  fillfactor = 50,
      |  autovacuum_vacuum_scale_factor = 0.02,
      |  autovacuum_vacuum_threshold = 1000,
      |  autovacuum_vacuum_cost_delay = 0
      |);
      |CREATE INDEX work_ready ON weir_queue.work (priority DESC, run_at, id) WHERE is_due;
      |CREATE INDEX work_delayed ON weir_queue.work (run_at) WHERE NOT is_due;
      |CREATE UNIQUE INDEX work_key ON weir_queue.work (key) WHERE key IS NOT NULL;
      |CREATE TABLE weir_queue.work_dead (
      |  id bigint PRIMARY KEY,
      |  run_at timestamptz NOT NULL,
      |  died_at timestamptz NOT NULL DEFAULT now(),
      |  priority integer NOT NULL,
      |  attempts integer NOT NULL,
      |  max_attempts integer NOT NULL,
      |  worker text,
      |  key text,
      |  error text,
      |  payload text NOT NULL
      |);
      |COMMENT ON TABLE weir_queue.work IS 'weir queue, version 1';
      |""".stripMargin

  private val firstJobs =
    """INSERT INTO weir_queue.work (payload) VALUES ('a');
      |INSERT INTO weir_queue.work (payload, run_at, is_due)
      |  VALUES ('b', now() + interval '1 day', false);
      |INSERT INTO weir_queue.work (payload, leased_until, attempts, token, worker)
      |  VALUES ('c', now() + interval '1 hour', 2, 2, 'host/1');
      |INSERT INTO weir_queue.work_dead
      |  (id, run_at, died_at, priority, attempts, max_attempts, error, payload, key) VALUES
      |  (4, now(), now() - interval '2 hours', 0, 2, 2, 'early', 'd', NULL),
      |  (5, now(), now() - interval '1 hour', 0, 1, 1, 'late', 'e', 'k');
      |""".stripMargin
