package weir.feeds.store

import java.sql.{Connection, ResultSet}

/** Selects feeds, in the order of a [[FeedQuery.Show]].
  *
  * A page is found by its number: all feeds are sorted for it, which takes some milliseconds for
  * ten thousand of them.
  */
final case class FeedQuery(show: FeedQuery.Show):
  import FeedQuery.*

  /** At most `limit` feeds, without the first `skipped`. */
  def page(connection: Connection, skipped: Int, limit: Int): Vector[ListedFeed] =
    Sql.query(
      connection,
      s"""SELECT $columns FROM
         |(SELECT * FROM feed WHERE ${show.condition} ORDER BY ${show.order} LIMIT ? OFFSET ?) f
         |ORDER BY ${show.order}""".stripMargin
    )(limit, skipped)(listed)

object FeedQuery:
  enum Show(val condition: String, val order: String):
    case All extends Show("1 = 1", "lower(coalesce(title, url)), id")

    /** The feeds whose last check failed, the longest failing first. */
    case Failing
        extends Show(
          s"failures > 0 AND disabled <> ${FeedState.Disabled.number}",
          "disabled, failures DESC, lower(coalesce(title, url)), id"
        )

    /** The feeds that have been checked, the latest check first. */
    case Latest extends Show("checked_at IS NOT NULL", "checked_at DESC, id")
    case Unchecked extends Show("checked_at IS NULL", "lower(coalesce(title, url)), id")

    /** Returns the number of feeds of this kind. */
    def count(connection: Connection): Long =
      Sql.query(connection, s"SELECT count(*) FROM feed WHERE $condition")()(_.getLong(1)).head

  def one(connection: Connection, id: Long): Option[ListedFeed] =
    Sql.query(connection, s"SELECT $columns FROM feed f WHERE id = ?")(id)(listed).headOption

  /** A text that differs after any check, any new item, and whenever stages are written. */
  def stamp(connection: Connection): String =
    val stages = Stages.latest(connection).fold("")(stages => s"-${stages.atMillis}")
    val checks = Sql
      .query(
        connection,
        """SELECT (SELECT max(id) FROM item), count(*), max(checked_at),
          |sum(checked_at % 1000000007) FROM feed""".stripMargin
      )()(row => (1 to 4).map(row.getLong).mkString("-"))
      .head
    checks + stages

  private val columns =
    """f.id, f.url, f.title, f.outcome, f.error, f.failures, f.checked_at, f.hold_off_ms,
      |f.skips, f.disabled, f.home_url,
      |(SELECT count(*) FROM item WHERE feed_id = f.id)""".stripMargin

  private def listed(row: ResultSet) =
    ListedFeed(
      id = row.getLong(1),
      url = row.getString(2),
      title = Sql.optional(row, 3),
      outcome = Sql.optional(row, 4),
      detail = Sql.optional(row, 5),
      failures = row.getInt(6),
      checkedAt = Option(row.getObject(7)).map(_ => row.getLong(7)),
      holdOffMillis = row.getLong(8),
      skips = SkippedTimes(row.getLong(9)),
      state = FeedState.of(row.getInt(10)),
      home = Sql.optional(row, 11),
      items = row.getLong(12)
    )

/** A feed as lists show it, with the outcome of its last check and the number of its items.
  *
  * @param detail
  *   the error, or the fault that was tolerated
  */
final case class ListedFeed(
    id: Long,
    url: String,
    title: Option[String],
    outcome: Option[String],
    detail: Option[String],
    failures: Int,
    checkedAt: Option[Long],
    holdOffMillis: Long,
    skips: SkippedTimes,
    state: FeedState,
    home: Option[String],
    items: Long
):
  /** Returns true if its last check failed; see [[FeedQuery.Show.Failing]]. */
  def isFailing: Boolean = failures > 0 && state != FeedState.Disabled

  /** When it is due, in milliseconds since 1970: 0 before its first check, none if it is disabled.
    */
  def dueAt(staleMillis: Long): Option[Long] =
    Option.unless(state == FeedState.Disabled):
      checkedAt.fold(0L)(at => skips.firstFree(at + staleMillis.max(holdOffMillis)))
