package weir.cli.feeds.store

import java.sql.Connection

/** What is compared of an item that is stored; an absent value is the empty string.
  *
  * @param textDigest
  *   reads the texts and gives their [[TextDigest]]: they may be megabytes, and are seldom looked
  *   at
  */
private[store] final case class StoredItem(
    guid: String,
    url: String = "",
    title: String = "",
    publishedAt: String = "",
    textDigest: () => String = () => ""
)

private[store] object StoredItem:
  /** The stored items of the feed that have a guid of one of `found`.
    *
    * Where the guid alone leaves no doubt, which is nearly always, only the guid is there.
    */
  def named(connection: Connection, feedId: Long, found: Vector[Item]): Vector[StoredItem] =
    val times = Groups.by(found)(_.guid)
    val counts =
      select(connection, feedId, times.keys.toVector, "guid, count(*)", "GROUP BY guid"): row =>
        (row.getString(1), row.getInt(2))
    val (doubtful, clear) =
      counts.partition((guid, count) => NewItems.areDoubtful(times(guid).size, count))
    clear.map((guid, _) => StoredItem(guid)) ++
      select(connection, feedId, doubtful.map(_(0)), columns, "ORDER BY id"): row =>
        val id = row.getLong(1)
        StoredItem(
          guid = row.getString(2),
          url = Sql.optional(row, 3).getOrElse(""),
          title = Sql.optional(row, 4).getOrElse(""),
          publishedAt = Sql.optional(row, 5).getOrElse(""),
          textDigest = () => digest(connection, id)
        )

  private val columns = "id, guid, url, title, published_at"

  private def digest(connection: Connection, id: Long): String =
    Sql
      .query(connection, "SELECT summary, content FROM item WHERE id = ?")(id): row =>
        TextDigest.of(Sql.optional(row, 1), Sql.optional(row, 2))
      .head

  /** Far fewer than the parameters that a statement may have. As a list of `VALUES` they are hashed
    * where Postgres has no statistics yet, and not compared one by one with each row.
    */
  private val atOnce = 500

  private def select[A](
      connection: Connection,
      feedId: Long,
      guids: Vector[String],
      columns: String,
      rest: String
  )(row: java.sql.ResultSet => A): Vector[A] =
    guids
      .grouped(atOnce)
      .toVector
      .flatMap: some =>
        val values = some.map(_ => "(?)").mkString("VALUES ", ", ", "")
        Sql.query(
          connection,
          s"SELECT $columns FROM item WHERE feed_id = ? AND guid IN ($values) $rest"
        )(feedId +: some*)(row)
