package weir.postgres.queue

import java.sql.{Connection, SQLException}

import weir.Task
import weir.postgres.{PgCodec, PgQueueException}
import weir.postgres.PgQueueException.Kind

/** Opens connections to the tables of a queue, checks that the tables exist, and translates errors.
  */
private[postgres] final class QueueAccess(
    connect: () => Connection,
    tables: QueueTables,
    column: PgCodec.Column
):
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

  /** Creates the tables if there are none. Several processes may do so at once. */
  def create: Task[Unit] = Task.uninterruptible {
    translated {
      val connection = connect()
      try
        connection.setAutoCommit(true)
        Jdbc.transaction(connection) {
          lock(connection)
          if read(connection).isEmpty then
            val hasSchema =
              Jdbc.query(connection, s"SELECT to_regnamespace('${tables.schema}') IS NOT NULL")(_ =>
                ()
              )(_.getBoolean(1))
            if !hasSchema.head then Jdbc.execute(connection, tables.createSchema)
            Jdbc.execute(connection, tables.create)
        }
        check(connection)
      finally connection.close()
    }
  }

  private def lock(connection: Connection): Unit =
    Jdbc.query(connection, Isolation.setting + "SELECT pg_advisory_xact_lock(hashtext(?))::text")(
      _.setString(1, tables.jobs)
    )(_ => ()): Unit

  /** Reads the comment and the payload's type of the existing table. */
  private def read(connection: Connection): Option[(Option[String], Option[String])] =
    Jdbc
      .query(
        connection,
        s"""SELECT obj_description(t), (SELECT format_type(atttypid, NULL) FROM pg_attribute
           |  WHERE attrelid = t AND attname = 'payload' AND NOT attisdropped)
           |FROM (SELECT to_regclass('${tables.jobs}') AS t) x WHERE t IS NOT NULL""".stripMargin
      )(_ => ())(row => (Option(row.getString(1)), Option(row.getString(2))))
      .headOption

  private def check(connection: Connection): Unit = if !isChecked then
    read(connection) match
      case None =>
        throw PgQueueException(
          Kind.NoTable,
          s"PgQueue: there is no table ${tables.jobs} in the database. Create it once with " +
            "`queue.create`, or with the statements of `queue.ddl`."
        )
      case Some((comment, column)) => checkTable(comment.getOrElse(""), column.getOrElse("no"))
    isChecked = true

  private def checkTable(comment: String, found: String): Unit =
    val known = s"${QueueTables.mark}${QueueTables.version}"
    if !comment.startsWith(QueueTables.mark) then
      throw PgQueueException(
        Kind.OtherVersion,
        s"PgQueue: the table ${tables.jobs} is not one of a queue: its comment is '$comment', " +
          s"and that of a queue is '$known'. Give the queue another name or schema."
      )
    if comment != known then
      throw PgQueueException(
        Kind.OtherVersion,
        s"PgQueue: the table ${tables.jobs} has ${comment.drop(5)}, and this Weir knows version " +
          s"${QueueTables.version}. Use the Weir that made it, or one that knows both."
      )
    if found != column.sql then
      throw PgQueueException(
        Kind.OtherColumn,
        s"PgQueue: the payload of ${tables.jobs} is $found, and the codec's is ${column.sql}. " +
          "Use a codec of that column, or another queue."
      )

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
          s"The user needs USAGE on the schema, and SELECT, INSERT, UPDATE and DELETE on " +
            s"${tables.jobs} and ${tables.dead}; to create them, CREATE on the database or schema."
        )
      case "42P01" | "3F000" =>
        refused(Kind.NoTable, "Create it once with `queue.create`, or with `queue.ddl`.")
      case "42703" | "42P10" =>
        refused(Kind.OtherVersion, "The table is not what `queue.ddl` makes.")
      case _ => error

private[postgres] object QueueAccess:
  private val patienceMillis = 30_000
