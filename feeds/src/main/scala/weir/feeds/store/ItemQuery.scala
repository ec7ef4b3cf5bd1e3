package weir.feeds.store

import java.sql.{Connection, ResultSet}

/** Selects the items of one feed or of all, first seen at or after `sinceMillis`.
  *
  * They come newest first, by the dates that their feeds give. But no item counts as newer than the
  * moment when it was first seen, so a publisher cannot keep items on top. Of items with one date
  * the last seen come first. Items of one check come in the order of their feed.
  */
final case class ItemQuery(feedId: Option[Long] = None, sinceMillis: Option[Long] = None):
  import ItemQuery.*

  /** At most `limit` items, those after `last`. It goes on after a row (no `OFFSET`), so a page far
    * down costs no more than the first, and items that arrive meanwhile shift nothing.
    */
  def page(connection: Connection, last: Option[Place], limit: Int): Vector[ListedItem] =
    val conditions = Vector(
      feedId.map(id => "feed_id = ?" -> Vector(id)),
      sinceMillis.map(since => "first_seen_at >= ?" -> Vector(since)),
      last.map: place =>
        // The first condition is redundant, but an index can use it.
        s"$newest <= ? AND ($newest < ? OR first_seen_at < ? OR first_seen_at = ? AND id > ?)" ->
          Vector(place.at, place.at, place.firstSeenAt, place.firstSeenAt, place.id)
    ).flatten
    val where =
      if conditions.isEmpty then "" else conditions.map(_._1).mkString("WHERE ", " AND ", "")
    Sql.query(
      connection,
      s"""SELECT $columns FROM
         |(SELECT *, $newest AS newest_at FROM item $where
         |  ORDER BY $newest DESC, first_seen_at DESC, id LIMIT ?) i
         |JOIN feed f ON f.id = i.feed_id
         |ORDER BY i.newest_at DESC, i.first_seen_at DESC, i.id""".stripMargin
    )((conditions.flatMap(_._2) :+ limit)*)(listed)

object ItemQuery:
  /** The place at which a page ends and the next begins.
    *
    * @param at
    *   see [[ListedItem.newestAt]]
    */
  final case class Place(at: Long, firstSeenAt: Long, id: Long)

  private val newest = Schema.newestAt

  /** The details of an item and its feed that lists do not show.
    *
    * @param summary
    *   the short text, in HTML as the feed gave it
    * @param content
    *   the full text, if there is one
    */
  final case class Details(
      summary: Option[String],
      content: Option[String],
      authors: Vector[String],
      categories: Vector[String],
      enclosures: Vector[Enclosure],
      feed: FeedAbout
  ):
    /** Returns the text to be read. */
    def text: Option[String] = content.orElse(summary)

  def one(connection: Connection, id: Long): Option[ListedItem] =
    Sql
      .query(
        connection,
        s"SELECT $columns FROM item i JOIN feed f ON f.id = i.feed_id WHERE i.id = ?"
      )(id)(listed)
      .headOption

  /** Returns the item with its details. */
  def whole(connection: Connection, id: Long): Option[(ListedItem, Details)] =
    one(connection, id).flatMap(item => details(connection, Vector(id)).get(id).map((item, _)))

  /** Returns the details of items, by their ids. */
  def details(connection: Connection, ids: Vector[Long]): Map[Long, Details] =
    if ids.isEmpty then Map.empty
    else
      Sql
        .query(
          connection,
          s"""SELECT i.id, i.summary, i.content, i.authors, i.categories, i.enclosures,
             |f.title, f.home_url, f.language, f.picture_url
             |FROM item i JOIN feed f ON f.id = i.feed_id
             |WHERE i.id IN (${ids.map(_ => "?").mkString(", ")})""".stripMargin
        )(ids*): row =>
          row.getLong(1) -> Details(
            summary = Sql.optional(row, 2),
            content = Sql.optional(row, 3),
            authors = ItemLists.texts(Sql.optional(row, 4)),
            categories = ItemLists.texts(Sql.optional(row, 5)),
            enclosures = ItemLists.enclosures(Sql.optional(row, 6)),
            feed = FeedAbout(
              title = Sql.optional(row, 7),
              home = Sql.optional(row, 8),
              language = Sql.optional(row, 9),
              picture = Sql.optional(row, 10)
            )
          )
        .toMap

  /** Longer than a title, with the elements that it may begin with. */
  private val openingLength = 1_000

  private val columns =
    s"""i.id, i.feed_id, f.url, f.title, i.url, i.title, i.published_at, i.first_seen_at,
       |i.changed_at, CASE WHEN i.title IS NULL
       |  THEN substr(coalesce(i.summary, i.content), 1, $openingLength) END""".stripMargin

  private def listed(row: ResultSet) =
    ListedItem(
      id = row.getLong(1),
      feedId = row.getLong(2),
      feedUrl = row.getString(3),
      feedTitle = Sql.optional(row, 4),
      url = Sql.optional(row, 5),
      title = Sql.optional(row, 6),
      publishedAt = Option(row.getObject(7)).map(_ => row.getLong(7)),
      firstSeenAt = row.getLong(8),
      changedAt = Option(row.getObject(9)).map(_ => row.getLong(9)),
      opening = Sql.optional(row, 10)
    )

/** An item without its text, as lists show it.
  *
  * @param changedAt the time at which its content was last found changed
  * @param opening
  *   the beginning of its text if it has no title, as short posts have none; in HTML that may end
  *   anywhere
  */
final case class ListedItem(
    id: Long,
    feedId: Long,
    feedUrl: String,
    feedTitle: Option[String],
    url: Option[String],
    title: Option[String],
    publishedAt: Option[Long],
    firstSeenAt: Long,
    changedAt: Option[Long],
    opening: Option[String]
):
  /** Returns the time by which it is sorted: its date, or the time at which it was first seen if
    * that is earlier.
    */
  def newestAt: Long = publishedAt.fold(firstSeenAt)(_ min firstSeenAt)

  def place: ItemQuery.Place = ItemQuery.Place(newestAt, firstSeenAt, id)
