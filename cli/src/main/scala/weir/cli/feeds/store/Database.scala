package weir.cli.feeds.store

import java.sql.Connection

/** Where feeds are kept: what differs between SQLite and Postgres. All queries are the same text. */
trait Database:
  /** The place as messages name it; never with a password. */
  def name: String

  /** Whether it already holds weir's tables.
    *
    * Nothing is created or changed.
    *
    * '''Fails''' with [[weir.cli.BadInput]] if it belongs to something else, was made by a newer
    * weir, or cannot be reached.
    */
  def exists(): Boolean

  /** Creates the tables if there are none yet; several processes may do so at once. */
  def create(): Unit

  /** A new connection in auto-commit mode. */
  def connect(): Connection

  /** Runs `body` in one writing transaction on `connection`, and rolls back if it throws. */
  def transaction[A](connection: Connection)(body: => A): A

object Database:
  /** The database that `--db` names: a `jdbc:postgresql:` URL, or else the path of an SQLite file. */
  def of(target: String): Database =
    if target.startsWith("jdbc:postgresql:") then Postgres(target)
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
