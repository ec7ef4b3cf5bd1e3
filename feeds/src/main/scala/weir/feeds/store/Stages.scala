package weir.feeds.store

import java.sql.Connection

/** The table of stages, as text, that a `weir feeds --stages` has written last. */
final case class Stages(atMillis: Long, table: String)

object Stages:
  private val fact = "stages"

  def write(store: FeedStore, stages: Stages): Unit =
    store.setFact(fact, s"${stages.atMillis}\n${stages.table}")

  def latest(connection: Connection): Option[Stages] =
    Sql
      .query(connection, "SELECT value FROM meta WHERE name = ?")(fact)(_.getString(1))
      .headOption
      .map(_.split("\n", 2))
      .collect { case Array(at, table) => Stages(at.toLong, table) }
