package weir.feeds.store

import java.sql.{Connection, SQLException}

/** A connection to the database, which is replaced where it has broken. One thread at a time uses
  * it.
  */
private[store] final class Line(database: Database, outages: Outages, first: Option[Connection])
    extends AutoCloseable:
  private var connection = first

  /** The result of `body`, which may run several times. Its changes must be one transaction, which
    * must have the same effect twice as once.
    *
    * **Waits** while the database is away, as `outages` says.
    */
  def use[A](body: Connection => A): A =
    outages.through(isAway):
      val current = connection.getOrElse(database.connectAgain())
      connection = Some(current)
      body(current)

  private def isAway(error: SQLException): Boolean =
    val isAway = database.isAway(error)
    if isAway then close()
    isAway

  def close(): Unit =
    try connection.foreach(_.close())
    catch case _: SQLException => () // it has broken
    connection = None
