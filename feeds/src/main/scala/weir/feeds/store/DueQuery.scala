package weir.feeds.store

import java.sql.Connection

import weir.feeds.input.{FeedUrl, Login}

/** Selects the feeds that are due: never checked, or last checked at least `staleMillis` (and the
  * feed's own hold-off) before `asOfMillis`. Feeds that skip the hour or the day of that moment are
  * not due.
  *
  * `asOfMillis` is the moment the run began, so a feed that the run has checked is not due again in
  * it.
  *
  * A check in the future was dated by a wrong clock, and makes its feed due.
  */
final case class DueQuery(
    asOfMillis: Long,
    staleMillis: Long,
    nowMillis: () => Long = () => System.currentTimeMillis()
):
  import DueQuery.*

  /** Returns the number of feeds that are due, and how long checking them one by one is expected to
    * take.
    */
  def amount(connection: Connection): Amount =
    Sql
      .query(
        connection,
        s"SELECT count(*), coalesce(sum(expected_ms), 0) FROM feed WHERE $isDue"
      )(values*)(row => Amount(row.getLong(1), row.getLong(2)))
      .head

  /** Returns the parameters of [[DueQuery.isDue]]. */
  private[store] def values: Seq[Long] =
    Seq(latestCheck, staleMillis, staleMillis, asOfMillis, SkippedTimes.bitsOf(asOfMillis))

  /** Machines that share a database may differ by so much. */
  private def latestCheck: Long = nowMillis() + skewMillis

  /** Returns the time at which the next feed that is not disabled falls due. Feeds that skip this
    * hour count as due in the next hour, and feeds of a held host at the end of the hold.
    */
  private[store] def nextAtMillis(connection: Connection, database: Database): Option[Long] =
    val nextHour = SkippedTimes.nextHour(asOfMillis)
    Sql
      .query(
        connection,
        s"""SELECT min(CASE
           |  WHEN (skips & ?) <> 0 AND due_at < ? THEN ?
           |  WHEN held_ms > ? - due_at THEN CAST(? AS BIGINT) + held_ms
           |  ELSE due_at END)
           |FROM (SELECT skips, until_ms - ${database.now} AS held_ms,
           |    CASE WHEN checked_at IS NULL OR checked_at > ? THEN 0
           |      ELSE checked_at + $pause END AS due_at
           |  FROM feed LEFT JOIN host_hold ON host = ${database.hostOf("url")}
           |    AND ${HostHolds(database).isHeld}
           |  WHERE $isEnabled) f""".stripMargin
      )(
        SkippedTimes.bitsOf(asOfMillis),
        nextHour,
        nextHour,
        asOfMillis,
        asOfMillis,
        latestCheck,
        staleMillis,
        staleMillis
      )(row => Option(row.getObject(1)).map(_ => row.getLong(1)))
      .head

  /** One page of the due feeds of one half of the keys, after `last`; longest expected check first.
    */
  def page(connection: Connection, half: Int, last: Option[DueFeed], limit: Int): Vector[DueFeed] =
    val longest = last.fold(Long.MaxValue)(_.expectedMillis)
    Sql.query(
      connection,
      s"""SELECT id, url, etag, last_modified, failures, ttl_ms, expected_ms, given, user_name,
         |  password
         |FROM feed LEFT JOIN login ON feed_id = id
         |WHERE $isDue AND id % 2 = ? AND (expected_ms < ? OR (expected_ms = ? AND id > ?))
         |ORDER BY expected_ms DESC, id LIMIT ?""".stripMargin
    )(values ++ Seq(half, longest, longest, last.fold(0L)(_.id), limit)*): row =>
      DueFeed(
        id = row.getLong(1),
        url = FeedUrl.stored(row.getString(2)),
        etag = Sql.optional(row, 3),
        lastModified = Sql.optional(row, 4),
        failures = row.getInt(5),
        ttlMillis = row.getLong(6),
        expectedMillis = row.getLong(7),
        isGiven = row.getInt(8) != 0,
        login = Sql.optional(row, 9).map(Login(_, row.getString(10)))
      )

object DueQuery:
  final case class Amount(feeds: Long, expectedMillis: Long)

  private val skewMillis = 60_000L

  private val isEnabled = s"disabled <> ${FeedState.Disabled.number}"
  private val pause = "CASE WHEN hold_off_ms > ? THEN hold_off_ms ELSE ? END"
  private[store] val isDue =
    s"$isEnabled AND (checked_at IS NULL OR checked_at > ? OR checked_at + $pause < ?) " +
      "AND (skips & ?) = 0"
