package weir.cli.feeds.store

import java.sql.Connection

/** The tables, the same for every database but for the type of the keys.
  *
  * Times are milliseconds since 1970. `checked_at` is null until the first check; `hold_off_ms` is
  * how long to leave a feed alone after its last check, if that is longer than `--stale`;
  * `expected_ms` is how long the last check took.
  */
private[store] object Schema:
  /** Raised when a table changes; a database of a newer version is refused, never touched. */
  val version = 1

  /** What the `meta` table says in the row `application`. */
  val application = "weir feeds"

  def create(connection: Connection, key: String): Unit =
    statements(key).foreach(Sql.execute(connection, _))
    val _ = Sql.updateAll(
      connection,
      "INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING"
    )(List(Seq("application", application), Seq("version", version.toString)))

  private def statements(key: String) = List(
    """CREATE TABLE IF NOT EXISTS meta (
      |  name TEXT PRIMARY KEY,
      |  value TEXT NOT NULL
      |)""".stripMargin,
    s"""CREATE TABLE IF NOT EXISTS feed (
       |  id $key,
       |  url TEXT NOT NULL UNIQUE,
       |  title TEXT,
       |  etag TEXT,
       |  last_modified TEXT,
       |  expected_ms BIGINT NOT NULL,
       |  checked_at BIGINT,
       |  hold_off_ms BIGINT NOT NULL DEFAULT 0,
       |  failures INTEGER NOT NULL DEFAULT 0,
       |  outcome TEXT,
       |  error TEXT,
       |  disabled INTEGER NOT NULL DEFAULT 0
       |)""".stripMargin,
    "CREATE INDEX IF NOT EXISTS feed_longest_first ON feed (expected_ms DESC, id)",
    s"""CREATE TABLE IF NOT EXISTS item (
       |  id $key,
       |  feed_id BIGINT NOT NULL REFERENCES feed (id),
       |  guid TEXT NOT NULL,
       |  url TEXT,
       |  title TEXT,
       |  published_at BIGINT,
       |  summary TEXT,
       |  first_seen_at BIGINT NOT NULL,
       |  UNIQUE (feed_id, guid)
       |)""".stripMargin
  )
