package weir.feeds.store

import java.sql.Connection

import weir.feeds.input.FeedUrl

/** Changes feeds on behalf of users, each change in a transaction of its own.
  *
  * A check locks the lease of its feed before the feed. These changes do the same, so no deadlock
  * is possible.
  */
final class FeedEdits(store: FeedStore):
  /** Removes the feed with its items, if it is still there. A process that is fetching it stores
    * nothing of it.
    */
  def remove(id: Long): Boolean = store.writing(FeedEdits.delete(_, id))

  /** Returns true if the feed was not disabled yet. A check that is under way is stored; it is its
    * last.
    */
  def disable(id: Long): Boolean = store.writing: connection =>
    1 == Sql.update(connection, "UPDATE feed SET disabled = ? WHERE id = ? AND disabled <> ?")(
      FeedState.Disabled.number,
      id,
      FeedState.Disabled.number
    )

  /** Returns true if the feed was disabled, or gone; it is due at once then. */
  def enable(id: Long): Boolean = store.writing: connection =>
    1 == Sql.update(connection, s"$startAgain WHERE id = ? AND disabled <> ?")(active, id, active)

  /** Enables the feeds at `urls`, which are then due at once, and returns how many of them were
    * disabled or gone.
    */
  def enableAt(urls: Iterable[FeedUrl]): Int = store.writing: connection =>
    at(connection, urls, Vector(FeedState.Gone, FeedState.Disabled))
      .map(feed => Sql.update(connection, s"$startAgain WHERE id = ?")(active, feed.id))
      .sum

  /** Of the feeds at `urls` that are gone, shortens the time until they are looked at again to what
    * `pause` makes of the number of their failures.
    */
  def lookAgainSooner(urls: Iterable[FeedUrl], pause: Int => Long): Unit =
    store.writing: connection =>
      for feed <- at(connection, urls, Vector(FeedState.Gone)) do
        Sql.update(connection, "UPDATE feed SET hold_off_ms = ? WHERE id = ? AND hold_off_ms > ?")(
          pause(feed.failures),
          feed.id,
          pause(feed.failures)
        ): Unit

  /** Returns the number of the feed that `typed` names. **Fails** as [[FeedLookup.find]]. */
  def find(place: String, typed: String): Long =
    store.reading(FeedLookup.find(_, store.name, place, typed))

  private val active = FeedState.Active.number
  private val startAgain =
    """UPDATE feed SET disabled = ?, checked_at = NULL, hold_off_ms = 0, failures = 0,
      |outcome = NULL, error = NULL""".stripMargin

  private final case class Given(id: Long, failures: Int)

  /** Returns the feeds at `urls` that are in one of `states`, of which there are few. */
  private def at(
      connection: Connection,
      urls: Iterable[FeedUrl],
      states: Vector[FeedState]
  ): Vector[Given] =
    val isOne = s"disabled IN (${states.map(_.number).mkString(", ")})"
    val there = Sql.query(
      connection,
      s"""SELECT id, failures, url FROM feed WHERE $isOne UNION ALL
         |SELECT feed.id, failures, u.url FROM former_url u JOIN feed ON feed.id = feed_id
         |WHERE $isOne""".stripMargin
    )()(row => (Given(row.getLong(1), row.getInt(2)), row.getString(3)))
    val named = if there.isEmpty then Set.empty else urls.map(_.text).toSet
    there.collect { case (feed, url) if named(url) => feed }.distinct

object FeedEdits:
  /** Deletes the feed and all that belongs to it; false if there is no such feed. */
  private[store] def delete(connection: Connection, id: Long): Boolean =
    def deleteFrom(table: String) =
      Sql.update(connection, s"DELETE FROM $table WHERE feed_id = ?")(id): Unit
    deleteFrom("lease")
    // Locks it: from now on no check adds items to it.
    Sql.update(connection, "UPDATE feed SET expected_ms = expected_ms WHERE id = ?")(id): Unit
    deleteFrom("item")
    deleteFrom("removed_item")
    deleteFrom("former_url")
    deleteFrom("login")
    Sql.update(connection, "DELETE FROM feed WHERE id = ?")(id) == 1
