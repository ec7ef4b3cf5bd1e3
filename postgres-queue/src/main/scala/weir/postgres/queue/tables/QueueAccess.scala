package weir.postgres.queue.tables

import java.sql.{Connection, SQLException}
import scala.concurrent.duration.*

import weir.{Resource, Task}
import weir.postgres.queue.{PgCodec, PgQueueException}
import weir.postgres.queue.PgQueueException.Kind

/** Opens connections to the tables of a queue, checks that the tables exist, and translates errors.
  */
private[queue] final class QueueAccess(
    connect: () => Connection,
    tables: QueueTables,
    column: PgCodec.Column,
    connectLimit: FiniteDuration = QueueAccess.patience
):
  import QueueAccess.*

  private val versions = TableVersions(tables, column)
  @volatile private var isChecked = false

  /** Runs `body` with a connection, in a transaction of its own. Repeats it after a deadlock, and
    * after a key that another has added since the transaction looked for it.
    *
    * **Cancelled** while it waits for a connection: at once. A statement takes milliseconds, and
    * one that is not answered is given up, so a cancel waits for it.
    */
  def transaction[R](body: Connection => R): Task[R] = connected(patience) { connection =>
    val once = Task.uninterruptible {
      check(connection)
      Jdbc.transaction(connection)(body(connection))
    }
    def repeated(tries: Int): Task[R] = once.recoverWith {
      case error: SQLException if tries > 1 && repeatable(error.getSQLState) => repeated(tries - 1)
    }
    repeated(mostTries)
  }

  /** Runs `body` with the caller's connection, in the caller's transaction. */
  def within[R](connection: Connection)(body: => R): Task[R] = Task.uninterruptible {
    translated {
      check(connection)
      body
    }
  }

  /** A place for a connection, which [[open]] fills. */
  def held: Resource[HeldConnection] = HeldConnection(connect)

  /** Opens a connection whose database has the tables, as `HeldConnection.open`. */
  def open(
      held: HeldConnection,
      limit: FiniteDuration,
      patience: FiniteDuration
  ): Task[Connection] =
    held
      .open(limit, patience)
      .flatTap(connection => Task.uninterruptible(translated(check(connection))))

  /** Creates or migrates the tables, as `TableVersions` does.
    *
    * **Cancelled**: breaks the connection, so that the server rolls back.
    */
  def create: Task[Unit] = connected(longestMigration) { connection =>
    Task.delay {
      versions.migrate(connection)
      check(connection)
    }
  }

  private def connected[R](patience: FiniteDuration)(use: Connection => Task[R]): Task[R] =
    held
      .use(_.open(connectLimit, patience).flatMap(use))
      .adaptError { case error: SQLException => meaning(error) }

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
  /** The time for which calls wait for a connection, and for an answer. */
  val patience: FiniteDuration = 30.seconds

  /** The time for which one statement of a migration may take, or wait for another migration. */
  private val longestMigration = 1.hour

  private val mostTries = 10

  /** A key that is there already, and a deadlock. */
  private val repeatable = Set("23505", "40P01")
