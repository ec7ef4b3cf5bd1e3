package weir.feeds.store

import java.sql.Connection
import scala.concurrent.duration.FiniteDuration

/** Reads the feeds that each process fetches; see [[Leases]]. */
final class LeaseQuery(database: Database):
  import LeaseQuery.*

  /** Returns the processes that are running, or were a while ago, the oldest first. */
  def workers(connection: Connection): Vector[Worker] =
    Sql.query(
      connection,
      s"""SELECT id, name, pid, machine, ${database.now} - since_ms, until_ms - ${database.now},
         |  (SELECT count(*) FROM lease WHERE worker_id = worker.id)
         |FROM worker ORDER BY since_ms, id""".stripMargin
    )(): row =>
      val isHere = row.getString(4) == WorkerProcess.current.machine
      val isGone = isHere && !WorkerProcess.isAlive(row.getLong(3))
      val left = row.getLong(6)
      Worker(
        id = row.getLong(1),
        name = row.getString(2),
        sinceMillis = row.getLong(5),
        leftMillis = if isGone then left.min(0) else left,
        feeds = row.getLong(7)
      )

  /** Returns up to `limit` of its feeds, the longest held first. */
  def feedsOf(connection: Connection, worker: Long, limit: Int): Vector[Feed] =
    Sql.query(
      connection,
      s"""SELECT url, ${database.now} - lease.since_ms
         |FROM lease JOIN feed ON feed.id = feed_id WHERE worker_id = ?
         |ORDER BY lease.since_ms, feed.id LIMIT ?""".stripMargin
    )(worker, limit)(row => Feed(row.getString(1), row.getLong(2)))

  /** Returns the hosts that have asked for a pause, with how long each still lasts; the longest
    * first.
    */
  def heldHosts(connection: Connection): Vector[(String, FiniteDuration)] =
    HostHolds(database).all(connection)

object LeaseQuery:
  /** @param sinceMillis
    *   the time for which it has run
    * @param leftMillis
    *   the time until its feeds are free if it gives no further sign of life; below 0 if it is gone
    */
  final case class Worker(
      id: Long,
      name: String,
      sinceMillis: Long,
      leftMillis: Long,
      feeds: Long
  ):
    def isAlive: Boolean = leftMillis > 0

  /** @param sinceMillis
    *   the time for which its process has had it
    */
  final case class Feed(url: String, sinceMillis: Long)
