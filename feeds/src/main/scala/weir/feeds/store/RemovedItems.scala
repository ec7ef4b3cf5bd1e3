package weir.feeds.store

import java.sql.Connection

/** Remembers items that were removed: as long as their feeds list them, they are not new. */
private[store] object RemovedItems:
  /** For how long after a feed has listed an item last it is remembered. A feed may leave an item
    * out for a while.
    */
  private val rememberMillis = 90L * 24 * 3_600_000

  /** Records that a document of the feed lists `removed`, and forgets removed items that it has not
    * listed for a long time.
    */
  def listed(
      connection: Connection,
      feedId: Long,
      atMillis: Long,
      removed: Vector[StoredItem]
  ): Unit =
    Sql.updateAll(
      connection,
      "UPDATE removed_item SET listed_at = ? WHERE feed_id = ? AND item_id = ? AND guid = ?"
    )(removed.map(item => Seq(atMillis, feedId, item.id, item.guid))): Unit
    Sql.update(connection, "DELETE FROM removed_item WHERE feed_id = ? AND listed_at < ?")(
      feedId,
      atMillis - rememberMillis
    ): Unit
