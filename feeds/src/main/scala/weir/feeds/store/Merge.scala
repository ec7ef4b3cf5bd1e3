package weir.feeds.store

import java.sql.Connection

import weir.feeds.input.FeedUrl

/** Makes one feed of two whose addresses redirect permanently to the same feed.
  *
  * The feed that has the address stays. It gets the items of the other that it lacks. The other's
  * addresses become former addresses of it, so a list that has both adds neither again.
  */
private[store] object Merge:
  /** Makes `feed` a part of the feed at `url`, and returns the number of that one; none if no feed
    * is at `url`, or it is `feed` itself. Must run in a transaction.
    */
  def into(connection: Connection, feed: DueFeed, url: FeedUrl): Option[Long] =
    // Locks the row, so that no other process adds items to it meanwhile.
    val locked = Sql.update(
      connection,
      "UPDATE feed SET expected_ms = expected_ms WHERE url = ? AND id <> ?"
    )(url.text, feed.id)
    Option.when(locked == 1):
      val other =
        Sql.query(connection, "SELECT id FROM feed WHERE url = ?")(url.text)(_.getLong(1)).head
      moveItems(connection, feed.id, other)
      moveAddresses(connection, feed, other)
      moveLogin(connection, feed, other, url)
      Sql.update(connection, "DELETE FROM lease WHERE feed_id = ?")(feed.id): Unit
      Sql.update(connection, "DELETE FROM feed WHERE id = ?")(feed.id): Unit
      other

  /** Moves the items that `to` lacks, and deletes the others. Two items are the same if they have
    * one guid, and if either each feed has that guid once, or their links and titles are equal too.
    */
  private def moveItems(connection: Connection, from: Long, to: Long): Unit =
    def count(feed: Long) =
      s"(SELECT count(*) FROM item n WHERE n.feed_id = $feed AND n.guid = item.guid)"
    val _ = Sql.update(
      connection,
      s"""DELETE FROM item WHERE feed_id = ? AND EXISTS (SELECT 1 FROM item o
         |WHERE o.feed_id = ? AND o.guid = item.guid
         |  AND (${count(from)} = 1 AND ${count(to)} = 1
         |    OR coalesce(o.url, '') = coalesce(item.url, '')
         |    AND coalesce(o.title, '') = coalesce(item.title, '')))""".stripMargin
    )(from, to)
    for table <- List("item", "removed_item") do
      Sql.update(connection, s"UPDATE $table SET feed_id = ? WHERE feed_id = ?")(to, from): Unit

  /** The feed that stays gets the login of the other, if it has none, and may have it. */
  private def moveLogin(connection: Connection, feed: DueFeed, to: Long, url: FeedUrl): Unit =
    if feed.url.sharesLoginWith(url) then
      val _ = Sql.update(
        connection,
        """INSERT INTO login (feed_id, user_name, password)
          |SELECT CAST(? AS BIGINT), user_name, password FROM login WHERE feed_id = ?
          |ON CONFLICT (feed_id) DO NOTHING""".stripMargin
      )(to, feed.id)

  private def moveAddresses(connection: Connection, feed: DueFeed, to: Long): Unit =
    val _ = Sql.update(connection, "UPDATE former_url SET feed_id = ? WHERE feed_id = ?")(
      to,
      feed.id
    )
    val _ = Sql.update(
      connection,
      """INSERT INTO former_url (url, feed_id) SELECT url, CAST(? AS BIGINT) FROM feed WHERE id = ?
        |ON CONFLICT (url) DO NOTHING""".stripMargin
    )(to, feed.id)
