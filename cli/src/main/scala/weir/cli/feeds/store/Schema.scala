package weir.cli.feeds.store

import java.sql.Connection

/** The tables, the same for every database but for the type of the keys.
  *
  * Times are milliseconds since 1970. `checked_at` is null until the first check; `hold_off_ms` is
  * how long to leave a feed alone after its last check, if that is longer than `--stale`; `ttl_ms`
  * is what the feed itself asked for when it was last read; `expected_ms` is how long the last
  * check took.
  */
private[store] object Schema:
  /** Raised when a table changes; a database of a newer version is refused, never touched.
    *
    *   - 2: several items of a feed may have one guid; `item.content`, `feed.ttl_ms`, `former_url`;
    *     indexes by age.
    *   - 3: `worker`, `lease`.
    */
  val version = 3

  /** What the `meta` table says in the row `application`. */
  val application = "weir feeds"

  def create(connection: Connection, key: String): Unit =
    (List(meta, feeds(key), feedIndex, formerUrls, items(key)) ++ itemIndexes ++ sharing)
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
       |  first_seen_at BIGINT NOT NULL
       |)""".stripMargin

  val itemIndexes: List[String] = List(
    "CREATE INDEX IF NOT EXISTS item_guid ON item (feed_id, guid)",
    "CREATE INDEX IF NOT EXISTS item_newest_first ON item (first_seen_at DESC, id)",
    "CREATE INDEX IF NOT EXISTS item_newest_of_feed ON item (feed_id, first_seen_at DESC, id)"
  )

  /** The addresses that feeds had before they moved. */
  val formerUrls: String =
    """CREATE TABLE IF NOT EXISTS former_url (
      |  url TEXT PRIMARY KEY,
      |  feed_id BIGINT NOT NULL REFERENCES feed (id)
      |)""".stripMargin

  /** What the processes that share a database tell each other; see [[Leases]]. */
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

  /** Adds the column that version 1 had not. */
  val addTtl = "ALTER TABLE feed ADD COLUMN ttl_ms BIGINT NOT NULL DEFAULT 0"

  private def feeds(key: String): String =
    s"""CREATE TABLE IF NOT EXISTS feed (
       |  id $key,
       |  url TEXT NOT NULL UNIQUE,
       |  title TEXT,
       |  etag TEXT,
       |  last_modified TEXT,
       |  expected_ms BIGINT NOT NULL,
       |  checked_at BIGINT,
       |  hold_off_ms BIGINT NOT NULL DEFAULT 0,
       |  ttl_ms BIGINT NOT NULL DEFAULT 0,
       |  failures INTEGER NOT NULL DEFAULT 0,
       |  outcome TEXT,
       |  error TEXT,
       |  disabled INTEGER NOT NULL DEFAULT 0
       |)""".stripMargin

  private val feedIndex =
    "CREATE INDEX IF NOT EXISTS feed_longest_first ON feed (expected_ms DESC, id)"
