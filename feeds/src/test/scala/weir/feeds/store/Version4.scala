package weir.feeds.store

import java.sql.Connection

/** The tables of Postgres as version 4 had them, with feeds like those in the file of SQLite that
  * is among the resources.
  */
object Version4:
  def create(connection: Connection): Unit = statements.foreach(Sql.execute(connection, _))

  private val key = "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY"

  private val statements = List(
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    s"""CREATE TABLE feed (id $key, url TEXT NOT NULL UNIQUE, title TEXT, home_url TEXT,
       |language TEXT, picture_url TEXT, etag TEXT, last_modified TEXT,
       |expected_ms BIGINT NOT NULL, checked_at BIGINT, hold_off_ms BIGINT NOT NULL DEFAULT 0,
       |ttl_ms BIGINT NOT NULL DEFAULT 0, skips BIGINT NOT NULL DEFAULT 0,
       |failures INTEGER NOT NULL DEFAULT 0, outcome TEXT, error TEXT,
       |disabled INTEGER NOT NULL DEFAULT 0)""".stripMargin,
    "CREATE INDEX feed_longest_first ON feed (expected_ms DESC, id)",
    "CREATE TABLE former_url (url TEXT PRIMARY KEY, feed_id BIGINT NOT NULL REFERENCES feed (id))",
    s"""CREATE TABLE item (id $key, feed_id BIGINT NOT NULL REFERENCES feed (id),
       |guid TEXT NOT NULL, url TEXT, title TEXT, published_at BIGINT, summary TEXT, content TEXT,
       |first_seen_at BIGINT NOT NULL, changed_at BIGINT, authors TEXT, categories TEXT,
       |enclosures TEXT, digest TEXT)""".stripMargin,
    "CREATE INDEX item_guid ON item (feed_id, guid)",
    "CREATE INDEX item_newest_first ON item (first_seen_at DESC, id)",
    "CREATE INDEX item_newest_of_feed ON item (feed_id, first_seen_at DESC, id)",
    """CREATE TABLE worker (id BIGINT PRIMARY KEY, name TEXT NOT NULL, machine TEXT NOT NULL,
      |pid BIGINT NOT NULL, since_ms BIGINT NOT NULL, until_ms BIGINT NOT NULL)""".stripMargin,
    """CREATE TABLE lease (feed_id BIGINT PRIMARY KEY, worker_id BIGINT NOT NULL, host TEXT,
      |since_ms BIGINT NOT NULL)""".stripMargin,
    "CREATE INDEX lease_host ON lease (host)",
    """INSERT INTO meta VALUES ('application', 'weir feeds'), ('version', '4'), ('site seed', '1'),
      |('site feeds', '2')""".stripMargin,
    """INSERT INTO feed (url, title, expected_ms, checked_at, outcome, failures, disabled) VALUES
      |('http://site.weir.localhost/feeds/1.xml', 'Site', 10, 1795718000000, 'fetched', 0, 0),
      |('http://site.weir.localhost/moved/2.xml', 'Site', 10, 1795718000000, 'fetched', 0, 0),
      |('http://127.0.0.1:18392/rss', 'Own', 10, 1795718000000, 'fetched', 0, 0),
      |('http://127.0.0.1:18392/gone', NULL, 10, 1795718000000, '410 gone, not fetched again', 1,
      |1)""".stripMargin,
    """INSERT INTO item (feed_id, guid, title, first_seen_at) VALUES
      |(1, 'site', 'S', 1795718000000), (3, 'a', 'A', 1795718000000),
      |(3, 'b', 'B', 1795718000000)""".stripMargin
  )
