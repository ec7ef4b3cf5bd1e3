package weir.feeds.store

import java.sql.Connection

import weir.feeds.input.FeedUrl
import weir.feeds.parse.{Link, PlausibleDate}
import weir.feeds.run.HoldOff

/** Brings older tables up to date, one version after the other.
  *
  * **From version 1**, once the `item` table has the columns and constraints of version 2.
  * An entry whose name version 1 made from a relative link, or from a title and a date, gets the
  * name that it has today, or the next check would take it for a new one.
  */
private[store] object Upgrade:
  def toVersion2(connection: Connection): Unit =
    Schema.itemIndexes.foreach(Sql.execute(connection, _))
    Sql.execute(connection, Schema.addTtl)
    Sql.execute(connection, Schema.formerUrls)
    renameUnnamed(connection)
    dropImpossibleDates(connection)
    resolveLinks(connection)
    forgetValidators(connection)

  /** Brings tables of `version`, which is 2 at least by now, up to date. */
  def afterVersion2(connection: Connection, version: Int): Unit =
    if version < 3 then toVersion3(connection)
    if version < 4 then toVersion4(connection)
    if version < 5 then toVersion5(connection)
    if version < 6 then toVersion6(connection)
    if version < 7 then toVersion7(connection)
    if version < Schema.version then toVersion8(connection)

  private def toVersion3(connection: Connection): Unit =
    Schema.sharing.foreach(Sql.execute(connection, _))

  private def toVersion4(connection: Connection): Unit =
    Schema.sayingMore.foreach(Sql.execute(connection, _))
    forgetValidators(connection)

  /** A feed that was gone was never asked again. The demo's feeds were among those of the user. */
  private def toVersion5(connection: Connection): Unit =
    // A feed that is removed is deleted from these.
    (Schema.logins :: Schema.leaving).foreach(Sql.execute(connection, _))
    Sql.update(connection, "UPDATE feed SET hold_off_ms = ? WHERE disabled = ?")(
      HoldOff.gone.toMillis,
      FeedState.Gone.number
    ): Unit
    val (demo, own) = feedIds(connection).partition((_, url) => url.host == FeedOrigin.demoHost)
    if own.nonEmpty then demo.foreach((id, _) => FeedEdits.delete(connection, id): Unit)
    val origin =
      if own.nonEmpty then Some(FeedOrigin.User) else demo.headOption.map(_ => FeedOrigin.Demo)
    origin.foreach(FeedOrigin.claim(connection, _, ""): Unit)

  private def toVersion6(connection: Connection): Unit =
    Schema.leaving.foreach(Sql.execute(connection, _))

  private def toVersion7(connection: Connection): Unit =
    Sql.execute(connection, Schema.hostHolds)

  private def toVersion8(connection: Connection): Unit =
    Sql.execute(connection, Schema.addGiven)
    Sql.execute(connection, Schema.logins)
    GivenAddresses.guess(connection)
    for index <- List("item_newest_first", "item_newest_of_feed") do
      Sql.execute(connection, s"DROP INDEX IF EXISTS $index")
    Schema.itemIndexes.foreach(Sql.execute(connection, _))
    Schema.setVersion(connection)

  private def feedIds(connection: Connection): Vector[(Long, FeedUrl)] =
    Sql.query(connection, "SELECT id, url FROM feed")()(row =>
      (row.getLong(1), FeedUrl.stored(row.getString(2)))
    )

  /** Forgets the validators, so that each feed is read once more, and gives the values that the
    * older version dropped or misread.
    */
  private def forgetValidators(connection: Connection): Unit =
    Sql.execute(connection, "UPDATE feed SET etag = NULL, last_modified = NULL")

  private def dropImpossibleDates(connection: Connection): Unit =
    val _ = Sql.update(
      connection,
      "UPDATE item SET published_at = NULL WHERE published_at < ? OR published_at > " +
        "first_seen_at + ?"
    )(PlausibleDate.earliest, PlausibleDate.aheadMillis)

  private def resolveLinks(connection: Connection): Unit =
    val rows = Sql.query(
      connection,
      """SELECT item.id, item.guid, item.url, feed.url FROM item JOIN feed ON feed.id = feed_id
        |WHERE item.url NOT LIKE '%:%' ORDER BY item.id""".stripMargin
    )(): row =>
      val (guid, url, feed) = (row.getString(2), row.getString(3), row.getString(4))
      val link = Link.resolve(FeedUrl.stored(feed).text, url)
      val name = if guid == url then ItemName.of(None, link, None, None) else guid
      Seq(link, name, row.getLong(1))
    val _ = Sql.updateAll(connection, "UPDATE item SET url = ?, guid = ? WHERE id = ?")(rows)

  /** Version 1 named an entry that has neither guid nor link by a digest of its title and date. */
  private def renameUnnamed(connection: Connection): Unit =
    val rows = Sql
      .query(
        connection,
        """SELECT id, guid, title, summary, published_at FROM item
          |WHERE url IS NULL AND length(guid) = 64 ORDER BY id""".stripMargin
      )(): row =>
        val (title, summary) = (Sql.optional(row, 3), Sql.optional(row, 4))
        val old = TextDigest.of(s"${title.getOrElse("")} ${row.getLong(5)}")
        val name = ItemName.of(None, None, title, summary)
        Option.when(row.getString(2) == old)(Seq(name, row.getLong(1)))
      .flatten
    val _ = Sql.updateAll(connection, "UPDATE item SET guid = ? WHERE id = ?")(rows)
