package weir.feeds.store

import java.sql.Connection

/** The tables of Postgres as version 3 had them, with what the program stored in the file of SQLite
  * that is among the resources.
  */
object Version3:
  def create(connection: Connection): Unit = statements.foreach(Sql.execute(connection, _))

  private val key = "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY"

  private val statements = List(
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    s"""CREATE TABLE feed (id $key, url TEXT NOT NULL UNIQUE, title TEXT, etag TEXT,
       |last_modified TEXT, expected_ms BIGINT NOT NULL, checked_at BIGINT,
       |hold_off_ms BIGINT NOT NULL DEFAULT 0, ttl_ms BIGINT NOT NULL DEFAULT 0,
       |failures INTEGER NOT NULL DEFAULT 0, outcome TEXT, error TEXT,
       |disabled INTEGER NOT NULL DEFAULT 0)""".stripMargin,
    "CREATE INDEX feed_longest_first ON feed (expected_ms DESC, id)",
    "CREATE TABLE former_url (url TEXT PRIMARY KEY, feed_id BIGINT NOT NULL REFERENCES feed (id))",
    s"""CREATE TABLE item (id $key, feed_id BIGINT NOT NULL REFERENCES feed (id),
       |guid TEXT NOT NULL, url TEXT, title TEXT, published_at BIGINT, summary TEXT, content TEXT,
       |first_seen_at BIGINT NOT NULL)""".stripMargin,
    "CREATE INDEX item_guid ON item (feed_id, guid)",
    "CREATE INDEX item_newest_first ON item (first_seen_at DESC, id)",
    "CREATE INDEX item_newest_of_feed ON item (feed_id, first_seen_at DESC, id)",
    """CREATE TABLE worker (id BIGINT PRIMARY KEY, name TEXT NOT NULL, machine TEXT NOT NULL,
      |pid BIGINT NOT NULL, since_ms BIGINT NOT NULL, until_ms BIGINT NOT NULL)""".stripMargin,
    """CREATE TABLE lease (feed_id BIGINT PRIMARY KEY, worker_id BIGINT NOT NULL, host TEXT,
      |since_ms BIGINT NOT NULL)""".stripMargin,
    "CREATE INDEX lease_host ON lease (host)",
    "INSERT INTO meta VALUES ('application', 'weir feeds'), ('version', '3')",
    """INSERT INTO feed (url, title, etag, expected_ms, checked_at, outcome) VALUES
      |('http://127.0.0.1:18391/gbk', 'ÖìéF»ù', '"e"', 10, 1795718000000,
      |'fetched, wrong encoding recovered'),
      |('http://127.0.0.1:18391/rss', 'T', '"e"', 10, 1795718000000, 'fetched')""".stripMargin,
    """INSERT INTO item (feed_id, guid, url, title, published_at, summary, content, first_seen_at)
      |VALUES
      |(1, 'g1', 'http://a.example/1', '‡ÖÊÂ', NULL, 'ÕýÎÄéF', NULL, 1795718000000),
      |(1, 'g2', NULL, 'plain', NULL, 'short', NULL, 1795718000000),
      |(2, 'a', NULL, 'A', 1767323045000, 'a long summary', NULL, 1795718000000),
      |(2, 'b', NULL, 'B', NULL, 'only content', NULL, 1795718000000),
      |(2, 'c', NULL, 'C', NULL, 's', 'longer content', 1795718000000),
      |(2, 'd', 'http://a.example/d1', 'D', NULL, NULL, NULL, 1795718000000),
      |(2, 'd', 'http://a.example/d2', 'D', NULL, NULL, NULL, 1795718000000)""".stripMargin
  )
