package weir.feeds.store

import java.sql.{Connection, SQLException}
import java.util.concurrent.locks.ReentrantLock
import scala.concurrent.duration.FiniteDuration

import weir.feeds.input.{FeedUrl, NewFeed}

/** The feeds and their items, with plain blocking calls.
  *
  *   - **Writing**: one connection under a lock. SQLite has one writer anyway, and a transaction
  *     takes about a millisecond, far less than a fetch.
  *   - **Reading**: every [[DueCursor]] has a connection of its own.
  *   - **A crash at any moment**: a check is one transaction, so its feed is either still due or
  *     has all its items as they are now; and a repeated check stores no item twice, since it is
  *     compared with what is stored in the same transaction, which holds the feed's row.
  */
final class FeedStore private (
    database: Database,
    writer: Line,
    outages: Outages,
    fillsOutbox: Boolean
) extends AutoCloseable:
  // Fair, so that a process with much to store can still say that it lives.
  private val lock = ReentrantLock(true)

  def name: String = database.name

  /** Returns the number of feeds, including those that are not checked any more. */
  def size(): Long =
    reading(connection => Sql.query(connection, "SELECT count(*) FROM feed")()(_.getLong(1)).head)

  /** Returns the origin of the database's feeds; none before the first feed was added. */
  def origin: Option[FeedOrigin] = reading(FeedOrigin.of)

  def amount(due: DueQuery): DueQuery.Amount = reading(due.amount)

  def nextAtMillis(due: DueQuery): Option[Long] =
    reading(due.nextAtMillis(_, database))

  /** Returns a cursor over the due feeds of one half of the keys (0 or 1), which the caller must
    * close.
    */
  def cursor(due: DueQuery, half: Int, pageSize: Int): DueCursor =
    DueCursor(database, Line(database, outages, None), due, half, pageSize)

  /** Adds `feeds`, and returns the number of new ones. A feed whose address is known, or was its
    * address before it moved, gets the login that is given with it, and is not changed otherwise.
    *
    * **Fails** with [[weir.program.BadInput]], and adds none, if the database is the demo's.
    */
  def add(feeds: Iterable[NewFeed]): Int =
    writing: connection =>
      FeedOrigin.claim(connection, FeedOrigin.User, name): Unit
      val added = insert(connection, feeds)
      GivenAddresses.record(connection, feeds)
      added

  /** Makes the database the demo's, with its feeds and facts. Returns false if it is so already.
    *
    * **Fails** with [[weir.program.BadInput]], and changes nothing, if it has feeds of the user.
    */
  def addDemo(feeds: Iterable[NewFeed], facts: Seq[(String, String)]): Boolean =
    writing: connection =>
      val isFirst = FeedOrigin.claim(connection, FeedOrigin.Demo, name)
      if isFirst then
        facts.foreach(setFact(connection, _, _))
        insert(connection, feeds): Unit
      isFirst

  private def insert(connection: Connection, feeds: Iterable[NewFeed]): Int =
    Sql.updateAll(
      connection,
      """INSERT INTO feed (url, title, expected_ms)
        |SELECT CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS BIGINT)
        |WHERE NOT EXISTS (SELECT 1 FROM former_url WHERE url = ?)
        |ON CONFLICT (url) DO NOTHING""".stripMargin
    )(feeds.map: feed =>
      val url = feed.url.text
      Seq(url, feed.title, feed.expected.toMillis, url))

  /** A fact about the database itself, such as the seed of the local site. */
  def fact(name: String): Option[String] =
    reading: connection =>
      Sql
        .query(connection, "SELECT value FROM meta WHERE name = ?")(name)(_.getString(1))
        .headOption

  def setFact(name: String, value: String): Unit = writing(setFact(_, name, value))

  private def setFact(connection: Connection, name: String, value: String): Unit =
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
  def record(check: Check): Int = recordIf(check)(_ => true).get.fresh

  /** As `record`, if `isAllowed` says so in the same transaction. */
  private[store] def recordIf(check: Check)(isAllowed: Connection => Boolean): Option[Recorded] =
    def attempt(check: Check) = writing: connection =>
      Option.when(isAllowed(connection))(write(connection, check))
    try attempt(check)
    catch
      case _: SQLException if check.movedTo.nonEmpty || check.livesAt.nonEmpty =>
        attempt(check.copy(movedTo = None, livesAt = None))

  /** Returns the leases of this process, which other processes can see.
    *
    * @param life
    *   the time for which a killed process keeps its feeds from others
    */
  def lease(life: FiniteDuration, process: WorkerProcess = WorkerProcess.current): Leases =
    val leases = Leases(this, database, life.toMillis, process)
    leases.sweep()
    leases.renew()
    leases

  /** Returns the outbox in which new items wait to be given by the run that has `leases`. */
  def outbox(leases: Leases): Outbox = Outbox(this, database, leases.worker)

  def sweep(retention: Retention): RetentionSweep = RetentionSweep(this, database, retention)

  /** The same store, over another connection. */
  private[store] def another(): FeedStore =
    FeedStore(database, Line(database, outages, None), outages, fillsOutbox)

  /** From now on no call waits for a database that is away. */
  def stopWaiting(): Unit = outages.end()

  def close(): Unit = writer.close()

  private def write(connection: Connection, check: Check): Recorded =
    import check.*
    val newAddress = movedTo.orElse(livesAt.filter(_ => wasNeverRead(connection, feed.id)))
    val other = newAddress.flatMap(Merge.into(connection, feed, _))
    val id = other.getOrElse(feed.id)
    val _ = Sql.update(
      connection,
      """UPDATE feed SET checked_at = ?, expected_ms = ?, outcome = ?, error = ?, failures = ?,
        |hold_off_ms = ?, disabled = CASE WHEN disabled = ? THEN disabled ELSE ? END
        |WHERE id = ?""".stripMargin
    )(
      atMillis,
      tookMillis,
      outcome,
      detail,
      failures,
      holdOffMillis,
      FeedState.Disabled.number,
      (if isGone then FeedState.Gone else FeedState.Active).number,
      id
    )
    if other.isEmpty then newAddress.foreach(url => move(connection, feed, url, trusted(url)))
    renewed.foreach: validators =>
      val _ = Sql.update(
        connection,
        """UPDATE feed SET etag = coalesce(?, etag), last_modified = coalesce(?, last_modified)
          |WHERE id = ?""".stripMargin
      )(validators.etag, validators.lastModified, id)
    found.fold(Recorded(0, 0)): said =>
      val _ = Sql.update(
        connection,
        """UPDATE feed SET title = coalesce(?, title), home_url = ?, language = ?, picture_url = ?,
          |etag = ?, last_modified = ?, ttl_ms = ?, skips = ? WHERE id = ?""".stripMargin
      )(
        said.about.title,
        said.about.home,
        said.about.language,
        said.about.picture,
        said.etag,
        said.lastModified,
        said.ttlMillis,
        said.skips.bits,
        id
      )
      ItemRows.record(connection, id, atMillis, said.items, fillsOutbox)

  /** Returns true if no check has found a feed yet, as far as the last check and the items show. */
  private def wasNeverRead(connection: Connection, id: Long): Boolean =
    Sql
      .query(
        connection,
        """SELECT 1 FROM feed WHERE id = ? AND (outcome LIKE 'fetched%' OR outcome = 'not modified'
          |OR EXISTS (SELECT 1 FROM item WHERE feed_id = feed.id))""".stripMargin
      )(id)(_ => ())
      .isEmpty

  /** The old address is remembered: a list that the user goes on giving still has it. */
  private def move(
      connection: Connection,
      feed: DueFeed,
      url: FeedUrl,
      isGiven: Boolean
  ): Unit =
    val moved = Sql.update(
      connection,
      "UPDATE feed SET url = ? WHERE id = ? AND NOT EXISTS (SELECT 1 FROM feed WHERE url = ?)"
    )(url.text, feed.id, url.text)
    if moved > 0 then
      GivenAddresses.move(connection, feed, url, isGiven)
      val _ = Sql.update(
        connection,
        "INSERT INTO former_url (url, feed_id) VALUES (?, ?) ON CONFLICT (url) DO NOTHING"
      )(feed.url.text, feed.id)

  private[store] def writing[A](body: Connection => A): A =
    lock.lock()
    try writer.use(connection => database.transaction(connection)(body(connection)))
    finally lock.unlock()

  private[store] def reading[A](body: Connection => A): A =
    lock.lock()
    try writer.use(connection => database.retrying(body(connection)))
    finally lock.unlock()

object FeedStore:
  /** Opens the store in `database`. Creates its tables if they do not exist, and upgrades older
    * ones.
    *
    * **Fails** with [[weir.program.BadInput]], and changes nothing, if the database belongs to
    * something else or cannot be reached.
    *
    * @param outages
    *   decides what happens if the database goes away later
    * @param fillsOutbox
    *   true if new items go to the [[Outbox]]
    */
  def open(
      database: Database,
      outages: Outages = Outages.failing,
      fillsOutbox: Boolean = false
  ): FeedStore =
    val version = database.version()
    database.checkWritable()
    version match
      case None => database.create()
      case Some(version) => if version < Schema.version then database.upgrade()
    FeedStore(database, Line(database, outages, Some(database.connect())), outages, fillsOutbox)

  /** Opens an existing database. **Fails** with a [[weir.program.BadInput]] if it does not exist.
    */
  def existing(database: Database): FeedStore =
    if database.version().isEmpty then throw StoreReader.nothingAt(database)
    open(database)
