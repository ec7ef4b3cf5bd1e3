package weir.cli.feeds.store

import java.sql.{Connection, SQLException}
import java.util.concurrent.locks.ReentrantLock

import weir.cli.feeds.input.{FeedUrl, NewFeed}

/** The feeds and their items, with plain blocking calls.
  *
  *   - '''Writing''': one connection under a lock. SQLite has one writer anyway, and a transaction
  *     takes about a millisecond, far less than a fetch.
  *   - '''Reading''': every [[DueCursor]] has a connection of its own.
  *   - '''A crash at any moment''': a check is one transaction, so its feed is either still due or has
  *     all its items; and a repeated check stores no item twice, since `(feed_id, guid)` is unique.
  */
final class FeedStore private (database: Database) extends AutoCloseable:
  private val writer = database.connect()
  private val lock = ReentrantLock()

  def name: String = database.name

  /** How many feeds there are, those included that are not checked any more. */
  def size(): Long =
    reading(connection => Sql.query(connection, "SELECT count(*) FROM feed")()(_.getLong(1)).head)

  /** How many feeds have an address at `host`. */
  def countAt(host: String): Long =
    reading: connection =>
      Sql
        .query(
          connection,
          "SELECT count(*) FROM feed WHERE url LIKE ? OR url LIKE ?"
        )(s"http://$host/%", s"https://$host/%")(_.getLong(1))
        .head

  def amount(due: DueQuery): DueQuery.Amount = reading(due.amount)

  def nextAtMillis(due: DueQuery): Option[Long] = reading(due.nextAtMillis)

  /** A cursor over the due feeds of one half of the keys (0 or 1), which the caller must close. */
  def cursor(due: DueQuery, half: Int, pageSize: Int): DueCursor =
    DueCursor(database.connect(), due, half, pageSize)

  /** How many of `feeds` were new: those with a known address are left as they are. */
  def add(feeds: Iterable[NewFeed]): Int =
    writing: connection =>
      Sql.updateAll(
        connection,
        "INSERT INTO feed (url, title, expected_ms) VALUES (?, ?, ?) ON CONFLICT (url) DO NOTHING"
      )(feeds.map(feed => Seq(feed.url.text, feed.title, feed.expected.toMillis)))

  /** A fact about the database itself, such as the seed of the local site. */
  def fact(name: String): Option[String] =
    reading: connection =>
      Sql
        .query(connection, "SELECT value FROM meta WHERE name = ?")(name)(_.getString(1))
        .headOption

  def setFact(name: String, value: String): Unit =
    writing: connection =>
      val _ = Sql.update(
        connection,
        """INSERT INTO meta (name, value) VALUES (?, ?)
          |ON CONFLICT (name) DO UPDATE SET value = excluded.value""".stripMargin
      )(name, value)

  /** Stores the check whole, and returns how many of its items are new.
    *
    * Another process may give the new address to another feed at the same moment; then this feed
    * keeps its old one.
    */
  def record(check: Check): Int =
    try writing(write(_, check))
    catch
      case _: SQLException if check.movedTo.nonEmpty =>
        writing(write(_, check.copy(movedTo = None)))

  def close(): Unit = writer.close()

  private def write(connection: Connection, check: Check): Int =
    import check.*
    val _ = Sql.update(
      connection,
      """UPDATE feed SET checked_at = ?, expected_ms = ?, outcome = ?, error = ?, failures = ?,
        |hold_off_ms = ?, disabled = ? WHERE id = ?""".stripMargin
    )(
      atMillis,
      tookMillis,
      outcome,
      error,
      failures,
      holdOffMillis,
      if disabled then 1 else 0,
      feed.id
    )
    movedTo.foreach(move(connection, feed.id, _))
    found.fold(0): said =>
      val _ = Sql.update(
        connection,
        "UPDATE feed SET title = coalesce(?, title), etag = ?, last_modified = ? WHERE id = ?"
      )(said.title, said.etag, said.lastModified, feed.id)
      addItems(connection, check, said.items)

  private def move(connection: Connection, id: Long, url: FeedUrl): Unit =
    val _ = Sql.update(
      connection,
      "UPDATE feed SET url = ? WHERE id = ? AND NOT EXISTS (SELECT 1 FROM feed WHERE url = ?)"
    )(url.text, id, url.text)

  private def addItems(connection: Connection, check: Check, items: Vector[Item]): Int =
    Sql.updateAll(
      connection,
      """INSERT INTO item (feed_id, guid, url, title, published_at, summary, first_seen_at)
        |VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (feed_id, guid) DO NOTHING""".stripMargin
    )(items.map: item =>
      import item.*
      Seq(check.feed.id, guid, url, title, publishedAt, summary, check.atMillis))

  private def writing[A](body: Connection => A): A =
    lock.lock()
    try database.transaction(writer)(body(writer))
    finally lock.unlock()

  private def reading[A](body: Connection => A): A =
    lock.lock()
    try body(writer)
    finally lock.unlock()

object FeedStore:
  /** The store in `database`, with its tables made if there were none.
    *
    * '''Fails''' with [[weir.cli.BadInput]], and changes nothing, if the database belongs to
    * something else or cannot be reached.
    */
  def open(database: Database): FeedStore =
    if !database.exists() then database.create()
    FeedStore(database)
