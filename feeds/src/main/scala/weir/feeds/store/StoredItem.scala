package weir.feeds.store

import java.sql.Connection

/** The values of a stored item that are compared; an absent value is the empty string.
  *
  * @param textDigest
  *   reads the texts and returns their [[TextDigest]]: they may be megabytes, and are seldom needed
  * @param digest
  *   its [[ItemDigest]]; none if an older weir stored it
  * @param isRemoved
  *   true if only these values are left of it; see [[RetentionSweep]]
  */
private[store] final case class StoredItem(
    guid: String,
    url: String = "",
    title: String = "",
    publishedAt: String = "",
    textDigest: () => String = () => "",
    id: Long = 0,
    digest: Option[String] = None,
    isRemoved: Boolean = false
)

private[store] object StoredItem:
  /** Returns the stored items of the feed that have a guid of one of `found`, in the order in which
    * they were stored. They include removed items.
    */
  def named(connection: Connection, feedId: Long, found: Vector[Item]): Vector[StoredItem] =
    found
      .map(_.guid)
      .distinct
      .grouped(atOnce)
      .toVector
      .flatMap(withGuids(connection, feedId, _))
      .sortBy(_.id)

  /** As much of an item that an older weir stored as it had. */
  def whole(connection: Connection, id: Long): Item =
    Sql
      .query(
        connection,
        "SELECT guid, url, title, published_at, summary, content FROM item WHERE id = ?"
      )(id): row =>
        Item(
          guid = row.getString(1),
          url = Sql.optional(row, 2),
          title = Sql.optional(row, 3),
          publishedAt = Sql.optional(row, 4).map(_.toLong),
          summary = Sql.optional(row, 5),
          content = Sql.optional(row, 6)
        )
      .head

  /** Far fewer than the parameters that a statement may have. As a list of `VALUES` they are hashed
    * where Postgres has no statistics yet, and not compared one by one with each row.
    */
  private val atOnce = 500

  private def withGuids(
      connection: Connection,
      feedId: Long,
      guids: Vector[String]
  ): Vector[StoredItem] =
    val values = guids.map(_ => "(?)").mkString("VALUES ", ", ", "")
    // One statement, since another process may remove items meanwhile.
    Sql.query(
      connection,
      s"""SELECT id, guid, url, title, published_at, digest, NULL FROM item
         |WHERE feed_id = ? AND guid IN ($values)
         |UNION ALL SELECT item_id, guid, url, title, published_at, NULL, text_digest
         |FROM removed_item WHERE feed_id = ? AND guid IN ($values)""".stripMargin
    )((feedId +: guids) ++ (feedId +: guids)*): row =>
      val id = row.getLong(1)
      val removed = Sql.optional(row, 7)
      StoredItem(
        guid = row.getString(2),
        url = Sql.optional(row, 3).getOrElse(""),
        title = Sql.optional(row, 4).getOrElse(""),
        publishedAt = Sql.optional(row, 5).getOrElse(""),
        textDigest = () =>
          removed.getOrElse:
            val item = whole(connection, id)
            TextDigest.of(item.summary, item.content)
        ,
        id = id,
        digest = Sql.optional(row, 6),
        isRemoved = removed.nonEmpty
      )
