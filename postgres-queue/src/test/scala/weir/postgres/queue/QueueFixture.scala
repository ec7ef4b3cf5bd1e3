package weir.postgres.queue

import java.sql.{Connection, DriverManager}
import scala.concurrent.duration.*
import scala.util.Using

import weir.Task
import weir.postgres.*

/** Queues in databases of their own. */
trait QueueFixture extends ServerSuite:
  override def limit: FiniteDuration = 120.seconds

  /** A new queue in a new database. */
  def newQueue(): (PgQueue[String], String) =
    val database = server.newDatabase()
    val queue = queueIn(server.jdbc(database))
    queue.create.runSync()
    (queue, database)

  def queueIn(url: String, schema: String = "weir_queue"): PgQueue[String] =
    PgQueue(() => DriverManager.getConnection(url), "work", PgCodec.text, schema)

  def offers(count: Int): Vector[PgOffer[String]] =
    Vector.tabulate(count)(i => PgOffer(i.toString))

  def on[R](database: String)(body: Connection => R): R = server.admin(database)(body)

  /** Runs `task` once, which must wait for a row that `sql` has changed, and then commits that
    * change.
    */
  def behind[R](database: String, sql: String)(task: => Task[R]): R =
    Using.resource(DriverManager.getConnection(server.jdbc(database))) { holder =>
      holder.setAutoCommit(false)
      server.execute(holder, sql)
      val running = task.start.runSync()
      awaitLock(database)
      holder.commit()
      running.joinOrFail.runSync()
    }

  def awaitLock(database: String): Unit = eventually("a session waits for the row")(
    server.ask("postgres")(
      s"SELECT count(*) FROM pg_stat_activity WHERE datname = '$database' " +
        "AND wait_event_type = 'Lock'"
    ) == "1"
  )

  /** Makes the leases of all jobs end now. */
  def endLeases(database: String): Unit = on(database)(
    server.execute(
      _,
      "UPDATE weir_queue.work SET leased_until = now() - interval '1 s' " +
        "WHERE leased_until IS NOT NULL"
    )
  )

  def refused(kind: PgQueueException.Kind)(body: => Any): String =
    val error = intercept[PgQueueException](body)
    assertEquals(error.kind, kind)
    error.getMessage

  val lease: FiniteDuration = 30.seconds
