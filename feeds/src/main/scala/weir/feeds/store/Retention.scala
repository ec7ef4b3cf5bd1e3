package weir.feeds.store

import java.sql.Connection
import scala.concurrent.duration.FiniteDuration

import weir.program.DurationText

/** Says which items to keep: those first seen at most `age` ago, and the newest `perFeed` of each
  * feed. None means no limit.
  */
final case class Retention(age: Option[FiniteDuration], perFeed: Option[Int]):
  def keepsAll: Boolean = age.isEmpty && perFeed.isEmpty

  /** Returns the rule in words. */
  def text: String =
    val parts = age.map(limit => s"first seen more than ${DurationText.show(limit)} ago") ++
      perFeed.map(limit => s"beyond the newest $limit of a feed")
    parts.mkString(", or ")

/** Removes items that the retention does not keep. A row of each stays, so that it is not new while
  * its feed lists it. An item that waits in the [[Outbox]] stays until it is given.
  */
final class RetentionSweep(store: FeedStore, database: Database, retention: Retention):
  import RetentionSweep.*

  /** Removes some items that may go at `nowMillis`, in one transaction; returns how many. None is
    * left when it is 0.
    */
  def removeSome(nowMillis: Long): Int = store.writing: connection =>
    // Another process would remove the same ones at the same time.
    database.lock(connection, "retention")
    val old = retention.age.toVector.flatMap(age => tooOld(connection, nowMillis - age.toMillis))
    val ids =
      if old.nonEmpty then old
      else retention.perFeed.toVector.flatMap(limit => tooMany(connection, limit))
    remove(connection, ids, nowMillis)
    ids.size

  private def tooOld(connection: Connection, before: Long): Vector[Long] =
    Sql.query(
      connection,
      s"SELECT id FROM item WHERE first_seen_at < ? AND $isGiven ORDER BY id LIMIT $atOnce"
    )(before)(_.getLong(1))

  /** Returns the items of one feed that are too many. */
  private def tooMany(connection: Connection, limit: Int): Vector[Long] =
    val feeds = Sql.query(
      connection,
      s"""SELECT feed_id FROM item GROUP BY feed_id HAVING count(*) - ? >
         |(SELECT count(*) FROM outbox o JOIN item i ON i.id = o.item_id
         |  WHERE i.feed_id = item.feed_id) ORDER BY feed_id LIMIT 100""".stripMargin
    )(limit)(_.getLong(1))
    feeds.iterator.map(beyond(connection, _, limit)).find(_.nonEmpty).getOrElse(Vector.empty)

  private def beyond(connection: Connection, feedId: Long, limit: Int): Vector[Long] =
    Sql.query(
      connection,
      s"""SELECT id FROM (SELECT id FROM item WHERE feed_id = ? ORDER BY $newest, id
         |  LIMIT ${Int.MaxValue} OFFSET ?) item
         |WHERE $isGiven ORDER BY id LIMIT $atOnce""".stripMargin
    )(feedId, limit)(_.getLong(1))

  private def remove(connection: Connection, ids: Vector[Long], nowMillis: Long): Unit =
    for id <- ids do
      val item = StoredItem.whole(connection, id)
      Sql.update(
        connection,
        """INSERT INTO removed_item (item_id, feed_id, guid, url, title, published_at, text_digest,
          |  listed_at)
          |SELECT id, feed_id, guid, url, title, published_at, CAST(? AS TEXT), CAST(? AS BIGINT)
          |FROM item WHERE id = ?""".stripMargin
      )(TextDigest.of(item.summary, item.content), nowMillis, id): Unit
      Sql.update(connection, "DELETE FROM item WHERE id = ?")(id): Unit

private object RetentionSweep:
  /** So that a transaction takes milliseconds. */
  private val atOnce = 100

  private val isGiven = "NOT EXISTS (SELECT 1 FROM outbox WHERE item_id = item.id)"

  private val newest = s"${Schema.newestAt} DESC"
