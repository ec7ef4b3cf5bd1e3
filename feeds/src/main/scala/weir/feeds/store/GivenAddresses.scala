package weir.feeds.store

import java.sql.Connection

import weir.feeds.input.{FeedUrl, Login, NewFeed}

/** Stores the addresses of feeds that the user gave, and the logins that came with them. */
private[store] object GivenAddresses:
  /** Notes that the user gives these addresses; the feeds are in the table by now. */
  def record(connection: Connection, feeds: Iterable[NewFeed]): Unit =
    val _ = Sql.updateAll(connection, "UPDATE feed SET given = 1 WHERE url = ? AND given = 0")(
      feeds.map(feed => Seq(feed.url.text))
    )
    for
      feed <- feeds
      login <- feed.login
      id <- feedFor(connection, feed.url)
    do setLogin(connection, id, login)

  /** Notes that `feed` has the address `url` from now on, which gets no login of another host. */
  def move(connection: Connection, feed: DueFeed, url: FeedUrl, isGiven: Boolean): Unit =
    val _ = Sql.update(connection, "UPDATE feed SET given = ? WHERE id = ?")(
      if isGiven then 1 else 0,
      feed.id
    )
    if !feed.url.sharesLoginWith(url) then
      val _ = Sql.update(connection, "DELETE FROM login WHERE feed_id = ?")(feed.id)

  /** For a database that did not note it: servers named the address of a feed that has moved from
    * another host.
    */
  def guess(connection: Connection): Unit =
    val moved = Sql.query(
      connection,
      """SELECT feed.id, feed.url, former_url.url FROM feed
        |JOIN former_url ON feed_id = feed.id""".stripMargin
    )()(row => (row.getLong(1), hostOf(row.getString(2)), hostOf(row.getString(3))))
    val named = moved.groupBy(_._1).collect {
      case (id, rows) if rows.forall((_, host, former) => host != former) => id
    }
    val _ = Sql.updateAll(connection, "UPDATE feed SET given = 0 WHERE id = ?")(named.map(Seq(_)))

  private def hostOf(url: String): String = FeedUrl.stored(url).hostName

  /** Returns the feed at `url`, or the one that has moved from there, if its login may be that of
    * `url`.
    */
  private def feedFor(connection: Connection, url: FeedUrl): Option[Long] =
    Sql
      .query(
        connection,
        """SELECT id, url FROM feed WHERE url = ?
          |OR id IN (SELECT feed_id FROM former_url WHERE url = ?)""".stripMargin
      )(url.text, url.text)(row => (row.getLong(1), FeedUrl.stored(row.getString(2))))
      .collectFirst { case (id, current) if url.sharesLoginWith(current) => id }

  private def setLogin(connection: Connection, id: Long, login: Login): Unit =
    val _ = Sql.update(
      connection,
      """INSERT INTO login (feed_id, user_name, password) VALUES (?, ?, ?)
        |ON CONFLICT (feed_id) DO UPDATE
        |SET user_name = excluded.user_name, password = excluded.password""".stripMargin
    )(id, login.user, login.password)
