package weir.postgres.queue.tables

import java.sql.{Connection, SQLException}

import weir.Task
import weir.postgres.queue.{PgCodec, PgQueueException}
import weir.postgres.queue.PgQueueException.Kind

/** Opens connections to the tables of a queue, checks that the tables exist, and translates errors.
  */
private[queue] final class QueueAccess(
    connect: () => Connection,
    tables: QueueTables,
    column: PgCodec.Column
):
  private val versions = TableVersions(tables, column)
  @volatile private var isChecked = false

  /** Runs `body` with a connection, in a transaction of its own.
    *
    * A cancel waits for it: a statement takes milliseconds, and a call to a server that does not
    * answer is given up.
    */
  def transaction[R](body: Connection => R): Task[R] = Task.uninterruptible {
    translated {
      val connection = connect()
      try
        connection.setNetworkTimeout(_.run(), QueueAccess.patienceMillis)
        try
          // The transaction begins after the check, even if a pool gives out connections that are
          // in one.
          connection.setAutoCommit(true)
          check(connection)
          Jdbc.transaction(connection)(body(connection))
        finally if !connection.isClosed then connection.setNetworkTimeout(_.run(), 0)
      finally connection.close()
    }
  }

  /** Runs `body` with the caller's connection, in the caller's transaction. */
  def within[R](connection: Connection)(body: => R): Task[R] = Task.uninterruptible {
    translated {
      check(connection)
      body
    }
  }

  /** Returns a connection whose database has the tables. */
  def open(): Connection = translated {
    val connection = connect()
    try
      check(connection)
      connection
    catch
      case error: Throwable =>
        connection.close()
        throw error
  }

  /** Creates or migrates the tables, as `TableVersions` does. */
  def create: Task[Unit] = Task.uninterruptible {
    translated {
      val connection = connect()
      try
        versions.migrate(connection)
        check(connection)
      finally connection.close()
    }
  }

  private def check(connection: Connection): Unit = if !isChecked then
    versions.check(connection)
    isChecked = true

  private def translated[R](body: => R): R =
    try body
    catch case error: SQLException => throw meaning(error)

  /** Returns the error in terms of queues, if it is about the tables. */
  def meaning(error: Throwable): Throwable =
    def refused(kind: Kind, rule: String) =
      PgQueueException(kind, s"PgQueue: ${tables.jobs}: ${error.getMessage}. $rule", error)
    val state = error match
      case sql: SQLException => sql.getSQLState
      case _ => ""
    state match
      case "42501" =>
        refused(
          Kind.NotPermitted,
          s"The user needs USAGE on the schema, SELECT, INSERT, UPDATE and DELETE on " +
            s"${tables.jobs} and ${tables.dead}, and SELECT on ${tables.versions}. To create or " +
            "migrate them, the user needs CREATE on the database or schema, and must own them."
        )
      case "42P01" | "3F000" =>
        refused(Kind.NoTable, "Create it once with `queue.create`, or with `queue.ddl`.")
      case "42703" | "42P10" =>
        refused(Kind.OtherVersion, "The table is not what `queue.ddl` makes.")
      case _ => error

private[queue] object QueueAccess:
  private val patienceMillis = 30_000
