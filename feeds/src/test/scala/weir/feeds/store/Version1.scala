package weir.feeds.store

import java.sql.Connection

/** The tables as version 1 of the schema had them. */
object Version1:
  /** Makes the tables, with a fact, and a feed that has `items`. */
  def create(connection: Connection, key: String, items: Seq[Item]): Unit =
    List(
      "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
      s"""CREATE TABLE feed (id $key, url TEXT NOT NULL UNIQUE, title TEXT, etag TEXT,
         |last_modified TEXT, expected_ms BIGINT NOT NULL, checked_at BIGINT,
         |hold_off_ms BIGINT NOT NULL DEFAULT 0, failures INTEGER NOT NULL DEFAULT 0, outcome TEXT,
         |error TEXT, disabled INTEGER NOT NULL DEFAULT 0)""".stripMargin,
      "CREATE INDEX feed_longest_first ON feed (expected_ms DESC, id)",
      s"""CREATE TABLE item (id $key, feed_id BIGINT NOT NULL REFERENCES feed (id),
         |guid TEXT NOT NULL, url TEXT, title TEXT, published_at BIGINT, summary TEXT,
         |first_seen_at BIGINT NOT NULL, UNIQUE (feed_id, guid))""".stripMargin,
      "INSERT INTO meta VALUES ('application', 'weir feeds'), ('version', '1'), ('colour', 'blue')",
      "INSERT INTO feed (url, etag, expected_ms) VALUES ('http://a.example/feed', 'e', 1000)"
    ).foreach(Sql.execute(connection, _))
    val _ = Sql.updateAll(
      connection,
      """INSERT INTO item (feed_id, guid, url, title, published_at, summary, first_seen_at)
        |VALUES (1, ?, ?, ?, ?, ?, 0)""".stripMargin
    )(items.map(item => Seq(item.guid, item.url, item.title, item.publishedAt, item.summary)))
