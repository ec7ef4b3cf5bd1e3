package weir.feeds.store

import java.sql.{Connection, SQLException}

import weir.postgres.Secrets
import weir.program.BadInput

/** A database of feeds: the differences between SQLite and Postgres. All queries have the same
  * text.
  */
trait Database:
  /** Returns the place as messages name it; never with a password. */
  def name: String

  /** The version of weir's tables in it; none if it has none yet.
    *
    * Nothing is created or changed.
    *
    * **Fails** with [[weir.program.BadInput]] if it belongs to something else, was made by a newer
    * weir, or cannot be reached.
    */
  def version(): Option[Int]

  /** **Fails** with [[weir.program.BadInput]] if it, or the place for it, may not be written to.
    */
  def checkWritable(): Unit = ()

  /** Creates the tables if there are none yet; several processes may do so at once. */
  def create(): Unit

  /** Brings the tables of an older weir up to date; several processes may do so at once. */
  def upgrade(): Unit

  /** Returns a new connection in auto-commit mode. */
  def connect(): Connection

  /** As `connect`, for a run that has begun. **Fails** with the driver's error. */
  def connectAgain(): Connection

  /** Returns true if `error` means that the database cannot answer at present, but may later. */
  def isAway(error: SQLException): Boolean

  /** Returns a new connection that can only read, to a database that exists: it makes none.
    *
    * It may wait for seconds inside native code, so it is for platform threads.
    */
  def connectForReading(): Connection

  /** Returns true if a connection for reading shows the database as it was when it was made. */
  def isSnapshot: Boolean = false

  /** Returns the database's own time, in milliseconds since 1970, as an expression. */
  def now: String

  /** The host and port of an address in normal form, as an expression. */
  def hostOf(url: String): String

  /** Returns true if several connections may write at the same time. */
  def hasManyWriters: Boolean

  /** Keeps other transactions that ask for the same `name` waiting until this one ends. */
  def lock(connection: Connection, name: String): Unit

  /** Runs `body`, which only reads, and runs it again where the database had to refuse it for a
    * moment.
    */
  def retrying[A](body: => A): A = body

  /** Runs `body` in one writing transaction on `connection`, and rolls back if it throws. */
  def transaction[A](connection: Connection)(body: => A): A

object Database:
  private val scheme = "[a-zA-Z][a-zA-Z0-9+.-]*://".r

  /** Returns the database that `--db` names: a `jdbc:postgresql:` URL, or else the path of an
    * SQLite file.
    */
  def of(target: String): Database =
    if target.startsWith("jdbc:postgresql:") then Postgres(target)
    else if scheme.findPrefixOf(target).nonEmpty then
      throw BadInput(
        "--db",
        s"'${Secrets.mask(target).takeWhile(_ != '?')}' is neither a file nor an address of JDBC.",
        "Give the path of a file, or jdbc:postgresql://HOST/DATABASE?user=U&password=P."
      )
    else Sqlite.at(target.stripPrefix("jdbc:sqlite:"))

  /** Runs `body` between `begin` and `COMMIT`, or `ROLLBACK` if it throws. */
  private[store] def between[A](connection: Connection)(begin: => Unit)(body: => A): A =
    begin
    try
      val result = body
      Sql.execute(connection, "COMMIT")
      result
    catch
      case error: Throwable =>
        try Sql.execute(connection, "ROLLBACK")
        catch
          case second: Throwable =>
            // A driver may throw the same object twice, or for ever.
            if (second ne error) && error.getSuppressed.length < 64 then error.addSuppressed(second)
        throw error
