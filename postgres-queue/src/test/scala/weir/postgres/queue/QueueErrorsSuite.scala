package weir.postgres.queue

import scala.concurrent.duration.*

import weir.Task
import weir.postgres.queue.PgQueueException.Kind

/** Tests the errors for tables that do not exist, belong to another program, or are not allowed. */
class QueueErrorsSuite extends QueueFixture:
  test("without tables each method says how to create them, and creating them is enough"):
    val queue = queueIn(server.jdbc(server.newDatabase()))
    val said = refused(Kind.NoTable)(queue.offer(PgOffer("a")).runSync())
    assertEquals(
      said,
      "PgQueue: there is no table weir_queue.work in the database. Create it once with " +
        "`queue.create`, or with the statements of `queue.ddl`."
    )
    refused(Kind.NoTable)(queue.stream(1, 1.second)(_ => Task.unit).drain.runSync()): Unit
    Task.parSequence(List.fill(4)(queue.create)).runSync(): Unit
    queue.create.runSync()
    assert(queue.offer(PgOffer("a")).runSync().nonEmpty)

  test("the statements of ddl are all that is needed"):
    val database = server.newDatabase()
    val queue = queueIn(server.jdbc(database), "other")
    on(database): connection =>
      server.execute(connection, "CREATE SCHEMA other")
      server.execute(connection, queue.ddl)
    assert(queue.offer(PgOffer("a")).runSync().nonEmpty)

  test("tables of another program and of another payload are refused"):
    val (_, database) = newQueue()
    def fresh = queueIn(server.jdbc(database))
    val column = refused(Kind.OtherColumn)(
      PgQueue(
        () => java.sql.DriverManager.getConnection(server.jdbc(database)),
        "work",
        PgCodec.bytes
      )
        .take(1, lease)
        .runSync()
    )
    assert(
      column.contains("the payload of weir_queue.work is text, and the codec's is bytea"),
      column
    )
    on(database)(server.execute(_, "COMMENT ON TABLE weir_queue.work IS 'mine'"))
    val other = refused(Kind.OtherVersion)(fresh.counts.runSync())
    assert(other.contains("its comment is 'mine'"), other)
    refused(Kind.OtherVersion)(fresh.create.runSync()): Unit

  test("a user without rights is told which are missing"):
    val (_, database) = newQueue()
    val user = s"poor_$database"
    on(database)(server.execute(_, s"CREATE ROLE $user LOGIN PASSWORD 'x'"))
    try
      val queue = queueIn(
        server.jdbc(database).replace("user=postgres&password=postgres", s"user=$user&password=x")
      )
      val said = refused(Kind.NotPermitted)(queue.take(1, lease).runSync())
      assert(said.contains("permission denied for schema weir_queue"), said)
      assert(said.contains("SELECT, INSERT, UPDATE and DELETE on weir_queue.work"), said)
      on(database): connection =>
        server.execute(connection, s"GRANT USAGE ON SCHEMA weir_queue TO $user")
        server.execute(connection, s"GRANT SELECT ON weir_queue.work TO $user")
        server.execute(connection, s"GRANT SELECT ON weir_queue.queue$$versions TO $user")
      val table = refused(Kind.NotPermitted)(queue.take(1, lease).runSync())
      assert(table.contains("permission denied for table work"), table)
      refused(Kind.NotPermitted)(queue.stream(1, 1.second)(_ => Task.unit).drain.runSync()): Unit
    finally
      on(database): connection =>
        server.execute(connection, s"DROP OWNED BY $user")
        server.execute(connection, s"DROP ROLE $user")

  test("the longest names that are accepted can be used"):
    val database = server.newDatabase()
    def named(schema: String) = PgQueue(
      () => java.sql.DriverManager.getConnection(server.jdbc(database)),
      "q" * 40,
      PgCodec.text,
      schema
    )
    val queue = named("s" * 22)
    queue.create.runSync()
    assert(queue.offer(PgOffer("a")).runSync().nonEmpty)
    val said = intercept[IllegalArgumentException](named("s" * 23)).getMessage
    assert(said.contains("together have 63 characters. They may have at most 62"), said)

  test("names and numbers that cannot be are refused before anything is done"):
    def message(body: => Any): String = intercept[IllegalArgumentException](body).getMessage
    def named(queue: String): PgQueue[String] = PgQueue(() => ???, queue, PgCodec.text)
    for name <- List("", "Work", "a-b", "a\"; DROP TABLE x", "1a", "a" * 41) do
      assert(message(named(name)).contains(s"the name of the queue was '$name'"), name)
    val queue = named("work")
    assert(message(queue.take(0, lease)).contains("count was 0. It must be at least 1"))
    assert(message(queue.take(1, Duration.Zero)).contains("the lease was 0 ms"))
    assert(message(queue.stream(0, lease)(_ => Task.unit)).contains("parallelism was 0"))
    assert(message(PgOffer("", maxAttempts = 0)).contains("maxAttempts was 0"))
    assert(message(PgWorker(poll = Duration.Zero)).contains("poll was 0 days"))
