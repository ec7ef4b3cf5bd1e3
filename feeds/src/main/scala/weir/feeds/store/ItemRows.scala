package weir.feeds.store

import java.sql.Connection

/** Writes the items of a document into the rows of its feed. The feed's row, or the whole file, is
  * locked by now, so no other process writes items of that feed meanwhile.
  */
private[store] object ItemRows:
  /** Adds the new items, and updates those that have changed. Removed items stay removed.
    *
    * @param fillsOutbox
    *   true if new items go to the outbox
    */
  def record(
      connection: Connection,
      feedId: Long,
      atMillis: Long,
      items: Vector[Item],
      fillsOutbox: Boolean
  ): Recorded =
    val matches = ItemMatches.of(items, StoredItem.named(connection, feedId, items))
    val known = matches.collect { case (item, Some(stored)) => (item, stored) }
    val there = known.filterNot((_, stored) => stored.isRemoved)
    val changed = update(connection, atMillis, there)
    RemovedItems.listed(connection, feedId, atMillis, known.map(_._2).filter(_.isRemoved))
    val last = lastOf(connection, feedId)
    val fresh = insert(connection, feedId, atMillis, matches.collect { case (item, None) => item })
    if fillsOutbox && fresh > 0 then
      Sql.update(
        connection,
        "INSERT INTO outbox (item_id) SELECT id FROM item WHERE feed_id = ? AND id > ?"
      )(feedId, last): Unit
    Recorded(fresh, changed)

  /** Returns the highest number of an item of the feed. Items that are added later have higher
    * numbers.
    */
  private def lastOf(connection: Connection, feedId: Long): Long =
    Sql
      .query(connection, "SELECT max(id) FROM item WHERE feed_id = ?")(feedId)(_.getLong(1))
      .head

  private def insert(
      connection: Connection,
      feedId: Long,
      atMillis: Long,
      items: Vector[Item]
  ): Int =
    Sql.updateAll(
      connection,
      """INSERT INTO item (feed_id, guid, first_seen_at, url, title, published_at, summary, content,
        |  authors, categories, enclosures, digest)
        |VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""".stripMargin
    )(items.map(item => Seq(feedId, item.guid, atMillis) ++ values(item, ItemDigest.of(item))))

  private def update(
      connection: Connection,
      atMillis: Long,
      known: Vector[(Item, StoredItem)]
  ): Int =
    val rows =
      for
        (item, stored) <- known
        digest = ItemDigest.of(item)
        if !stored.digest.contains(digest)
      yield
        val changedAt = Option.when(hasChanged(connection, item, stored))(atMillis)
        (changedAt, values(item, digest) ++ Seq(changedAt, stored.id))
    val _ = Sql.updateAll(
      connection,
      """UPDATE item SET url = ?, title = ?, published_at = ?, summary = ?, content = ?,
        |  authors = ?, categories = ?, enclosures = ?, digest = ?,
        |  changed_at = coalesce(?, changed_at)
        |WHERE id = ?""".stripMargin
    )(rows.map(_._2))
    rows.count(_._1.nonEmpty)

  /** An older weir stored less of an item, which is no change of the item. */
  private def hasChanged(connection: Connection, item: Item, stored: StoredItem): Boolean =
    stored.digest.nonEmpty || ItemDigest.asVersion3(item) !=
      ItemDigest.asVersion3(StoredItem.whole(connection, stored.id))

  private def values(item: Item, digest: String): Seq[Any] =
    Seq(
      item.url,
      item.title,
      item.publishedAt,
      item.summary,
      item.content,
      ItemLists.ofTexts(item.authors),
      ItemLists.ofTexts(item.categories),
      ItemLists.ofEnclosures(item.enclosures),
      digest
    )
