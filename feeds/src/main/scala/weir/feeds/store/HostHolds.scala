package weir.feeds.store

import java.sql.Connection
import scala.concurrent.duration.*

/** The hosts that have asked for a pause, in the database, where all processes see them.
  *
  * Times are the database's. A hold ends by itself. Its row stays, since the next hold for which
  * the host names no time is twice as long. A good answer after the end of a hold removes the row.
  */
private[store] final class HostHolds(database: Database):
  import HostHolds.*

  private val now = database.now

  /** Returns the time for which `host` is still held; none if it is not. */
  def left(connection: Connection, host: String): Option[FiniteDuration] =
    row(connection, host).flatMap(_.left)

  /** Holds `host` for as long as it has asked for, or for a growing time. Returns how long it is
    * held now. Must run in a writing transaction.
    *
    * A hold that has not ended is not shortened, and answers that come during it do not make the
    * next one longer: several requests may be in flight when the first is refused.
    */
  def hold(connection: Connection, host: String, asked: Option[FiniteDuration]): FiniteDuration =
    database.lock(connection, s"hold $host")
    val before = row(connection, host)
    val active = before.flatMap(_.left)
    val times = before.fold(1L)(row => if active.isEmpty then row.times + 1 else row.times)
    val wanted = asked.filter(_ > Duration.Zero).map(_ min longest)
    val left = active match
      case Some(active) => wanted.fold(active)(_ max active)
      case None => wanted.getOrElse(growing(times))
    val _ = Sql.update(
      connection,
      s"""INSERT INTO host_hold (host, until_ms, times) VALUES (?, $now + ?, ?)
         |ON CONFLICT (host) DO UPDATE SET until_ms = excluded.until_ms, times = excluded.times
         |""".stripMargin
    )(host, left.toMillis, times)
    left

  /** Notes a good answer of `host`: the next hold is short again. */
  def answered(connection: Connection, host: String): Unit =
    val _ = Sql.update(connection, s"DELETE FROM host_hold WHERE host = ? AND NOT $isHeld")(host)

  /** All hosts that are held, with how long each still is; the longest first. */
  def all(connection: Connection): Vector[(String, FiniteDuration)] =
    Sql.query(
      connection,
      s"SELECT host, until_ms - $now FROM host_hold WHERE $isHeld ORDER BY until_ms DESC, host"
    )()(row => (row.getString(1), row.getLong(2).max(0).millis))

  /** Removes the rows of hosts that nobody has asked for a long time. */
  def sweep(connection: Connection): Unit =
    val _ =
      Sql.update(connection, s"DELETE FROM host_hold WHERE until_ms < $now - ?")(
        remembered.toMillis
      )

  /** A condition for rows whose hold has not ended. A hold that is longer than possible was written
    * by a wrong clock.
    */
  def isHeld: String = s"(until_ms > $now AND until_ms <= $now + ${longest.toMillis})"

  private def row(connection: Connection, host: String): Option[Row] =
    Sql
      .query(connection, s"SELECT until_ms - $now, times FROM host_hold WHERE host = ?")(host)(
        row => Row(row.getLong(1), row.getLong(2))
      )
      .headOption

private[store] object HostHolds:
  /** A host that asks for a longer pause is still asked again after a day. */
  private val longest = 1.day

  private val first = 2.seconds
  private val longestGrown = 1.hour
  private val remembered = 7.days

  private final case class Row(leftMillis: Long, times: Long):
    def left: Option[FiniteDuration] =
      Option.when(leftMillis > 0 && leftMillis <= longest.toMillis)(leftMillis.millis)

  /** Returns the `times`th hold in a row for which the host names no time. */
  private def growing(times: Long): FiniteDuration =
    (first * (1L << (times - 1).min(20))) min longestGrown
