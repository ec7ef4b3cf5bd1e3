package weir.feeds.store

import java.sql.Connection

/** The tables, the same for every database but for the type of the keys.
  *
  * Times are milliseconds since 1970. `checked_at` is null until the first check; `hold_off_ms` is
  * how long to leave a feed alone after its last check, if that is longer than `--stale`; `ttl_ms`
  * is what the feed itself asked for when it was last read, `skips` the [[SkippedTimes]];
  * `expected_ms` is how long the last check took; `disabled` is a [[FeedState]]; `given` is 0 where
  * a server named the address, not the user. Of an item `changed_at` is null until it changes, and
  * `digest` is its [[ItemDigest]], null until a weir of version 4 has read it.
  */
private[store] object Schema:
  /** Raised when a table changes; a database of a newer version is refused, never touched.
    *
    *   - 2: several items of a feed may have one guid; `item.content`, `feed.ttl_ms`, `former_url`;
    *     indexes by age.
    *   - 3: `worker`, `lease`.
    *   - 4: `item.changed_at`, `item.digest`, what else an item and a feed say, `feed.skips`.
    *   - 5: `feed.disabled` is the number of a [[FeedState]]; the fact of a [[FeedOrigin]].
    *   - 6: `removed_item`, `outbox`.
    *   - 7: `host_hold`.
    *   - 8: `feed.given`, `login`; indexes by date.
    */
  val version = 8

  /** The value of the row `application` in the `meta` table. */
  val application = "weir feeds"

  def create(connection: Connection, key: String): Unit =
    val all = List(meta, feeds(key), feedIndex, formerUrls, logins, items(key), hostHolds)
    (all ++ itemIndexes ++ sharing ++ leaving)
      .foreach(Sql.execute(connection, _))
    val _ = Sql.updateAll(
      connection,
      "INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING"
    )(List(Seq("application", application), Seq("version", version.toString)))

  def setVersion(connection: Connection): Unit =
    val _ = Sql.update(connection, "UPDATE meta SET value = ? WHERE name = 'version'")(
      version.toString
    )

  private val meta =
    """CREATE TABLE IF NOT EXISTS meta (
      |  name TEXT PRIMARY KEY,
      |  value TEXT NOT NULL
      |)""".stripMargin

  def items(key: String): String =
    s"""CREATE TABLE IF NOT EXISTS item (
       |  id $key,
       |  feed_id BIGINT NOT NULL REFERENCES feed (id),
       |  guid TEXT NOT NULL,
       |  url TEXT,
       |  title TEXT,
       |  published_at BIGINT,
       |  summary TEXT,
       |  content TEXT,
       |  first_seen_at BIGINT NOT NULL,
       |  changed_at BIGINT,
       |  authors TEXT,
       |  categories TEXT,
       |  enclosures TEXT,
       |  digest TEXT
       |)""".stripMargin

  /** When an item counts as published, for an order in which no feed can stay on top. */
  val newestAt: String =
    "CASE WHEN published_at < first_seen_at THEN published_at ELSE first_seen_at END"

  private val newestFirst = s"($newestAt) DESC, first_seen_at DESC, id"

  val itemIndexes: List[String] = List(
    "CREATE INDEX IF NOT EXISTS item_guid ON item (feed_id, guid)",
    s"CREATE INDEX IF NOT EXISTS item_newest_first ON item ($newestFirst)",
    s"CREATE INDEX IF NOT EXISTS item_newest_of_feed ON item (feed_id, $newestFirst)",
    "CREATE INDEX IF NOT EXISTS item_first_seen ON item (first_seen_at)"
  )

  /** The addresses that feeds had before they moved. */
  val formerUrls: String =
    """CREATE TABLE IF NOT EXISTS former_url (
      |  url TEXT PRIMARY KEY,
      |  feed_id BIGINT NOT NULL REFERENCES feed (id)
      |)""".stripMargin

  /** The logins that users gave with addresses. They have a table of their own, so that readers of
    * the feeds need no right to read them.
    */
  val logins: String =
    """CREATE TABLE IF NOT EXISTS login (
      |  feed_id BIGINT PRIMARY KEY REFERENCES feed (id) ON DELETE CASCADE,
      |  user_name TEXT NOT NULL,
      |  password TEXT NOT NULL
      |)""".stripMargin

  /** The tables by which processes share a database; see [[Leases]]. */
  val sharing: List[String] = List(
    """CREATE TABLE IF NOT EXISTS worker (
      |  id BIGINT PRIMARY KEY,
      |  name TEXT NOT NULL,
      |  machine TEXT NOT NULL,
      |  pid BIGINT NOT NULL,
      |  since_ms BIGINT NOT NULL,
      |  until_ms BIGINT NOT NULL
      |)""".stripMargin,
    """CREATE TABLE IF NOT EXISTS lease (
      |  feed_id BIGINT PRIMARY KEY,
      |  worker_id BIGINT NOT NULL,
      |  host TEXT,
      |  since_ms BIGINT NOT NULL
      |)""".stripMargin,
    "CREATE INDEX IF NOT EXISTS lease_host ON lease (host)"
  )

  /** The tables of removed items, see [[RetentionSweep]], and of items to give, see [[Outbox]]. */
  val leaving: List[String] = List(
    """CREATE TABLE IF NOT EXISTS removed_item (
      |  feed_id BIGINT NOT NULL REFERENCES feed (id),
      |  guid TEXT NOT NULL,
      |  item_id BIGINT NOT NULL,
      |  url TEXT,
      |  title TEXT,
      |  published_at BIGINT,
      |  text_digest TEXT NOT NULL,
      |  listed_at BIGINT NOT NULL
      |)""".stripMargin,
    "CREATE INDEX IF NOT EXISTS removed_item_guid ON removed_item (feed_id, guid)",
    """CREATE TABLE IF NOT EXISTS outbox (
      |  item_id BIGINT PRIMARY KEY REFERENCES item (id) ON DELETE CASCADE,
      |  worker_id BIGINT
      |)""".stripMargin
  )

  /** The hosts that have asked for a pause; see [[HostHolds]]. */
  val hostHolds: String =
    """CREATE TABLE IF NOT EXISTS host_hold (
      |  host TEXT PRIMARY KEY,
      |  until_ms BIGINT NOT NULL,
      |  times BIGINT NOT NULL
      |)""".stripMargin

  /** Returns the table of items in version 2. */
  def itemsOfVersion2(key: String): String =
    s"""CREATE TABLE item (id $key, feed_id BIGINT NOT NULL REFERENCES feed (id),
       |  guid TEXT NOT NULL, url TEXT, title TEXT, published_at BIGINT, summary TEXT, content TEXT,
       |  first_seen_at BIGINT NOT NULL)""".stripMargin

  /** Adds the columns that version 3 had not. */
  val sayingMore: List[String] = List(
    "ALTER TABLE item ADD COLUMN changed_at BIGINT",
    "ALTER TABLE item ADD COLUMN authors TEXT",
    "ALTER TABLE item ADD COLUMN categories TEXT",
    "ALTER TABLE item ADD COLUMN enclosures TEXT",
    "ALTER TABLE item ADD COLUMN digest TEXT",
    "ALTER TABLE feed ADD COLUMN home_url TEXT",
    "ALTER TABLE feed ADD COLUMN language TEXT",
    "ALTER TABLE feed ADD COLUMN picture_url TEXT",
    "ALTER TABLE feed ADD COLUMN skips BIGINT NOT NULL DEFAULT 0"
  )

  /** Adds the column that version 4 had not. */
  val addGiven = "ALTER TABLE feed ADD COLUMN given INTEGER NOT NULL DEFAULT 1"

  /** Adds the column that version 1 had not. */
  val addTtl = "ALTER TABLE feed ADD COLUMN ttl_ms BIGINT NOT NULL DEFAULT 0"

  private def feeds(key: String): String =
    s"""CREATE TABLE IF NOT EXISTS feed (
       |  id $key,
       |  url TEXT NOT NULL UNIQUE,
       |  title TEXT,
       |  home_url TEXT,
       |  language TEXT,
       |  picture_url TEXT,
       |  etag TEXT,
       |  last_modified TEXT,
       |  expected_ms BIGINT NOT NULL,
       |  checked_at BIGINT,
       |  hold_off_ms BIGINT NOT NULL DEFAULT 0,
       |  ttl_ms BIGINT NOT NULL DEFAULT 0,
       |  skips BIGINT NOT NULL DEFAULT 0,
       |  failures INTEGER NOT NULL DEFAULT 0,
       |  outcome TEXT,
       |  error TEXT,
       |  disabled INTEGER NOT NULL DEFAULT 0,
       |  given INTEGER NOT NULL DEFAULT 1
       |)""".stripMargin

  private val feedIndex =
    "CREATE INDEX IF NOT EXISTS feed_longest_first ON feed (expected_ms DESC, id)"
