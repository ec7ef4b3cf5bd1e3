package weir.feeds.store

/** The items that are still to be given to what the user has named, such as a command.
  *
  * An item is written here in the transaction that stores it, and removed once it has been given.
  * In between a process takes it, as [[Leases]] do a feed: others leave it alone while that process
  * lives. So each item is given once, by all processes together; only the one that a process was
  * giving when it was killed, or was taken for dead, is given again.
  *
  * @param worker
  *   the number of this run
  */
final class Outbox(store: FeedStore, database: Database, worker: Long):
  /** Up to `limit` items after the one with the number `last` that no other process is giving, in
    * the order of their numbers.
    */
  def page(last: Long, limit: Int): Vector[Long] = store.reading: connection =>
    Sql.query(
      connection,
      s"SELECT item_id FROM outbox WHERE item_id > ? AND $isFree ORDER BY item_id LIMIT ?"
    )(last, worker, limit)(_.getLong(1))

  /** The item, if it is this process's to give. */
  def take(id: Long): Option[(ListedItem, ItemQuery.Details)] =
    val isOurs = store.writing: connection =>
      1 == Sql.update(
        connection,
        s"UPDATE outbox SET worker_id = ? WHERE item_id = ? AND $isFree"
      )(worker, id, worker)
    if isOurs then store.reading(connection => ItemQuery.whole(connection, id)) else None

  /** The item has been given. */
  def remove(id: Long): Unit = store.writing: connection =>
    Sql.update(connection, "DELETE FROM outbox WHERE item_id = ? AND worker_id = ?")(
      id,
      worker
    ): Unit

  /** The item could not be given, and stays to be given. */
  def giveBack(id: Long): Unit = store.writing: connection =>
    Sql.update(
      connection,
      "UPDATE outbox SET worker_id = NULL WHERE item_id = ? AND worker_id = ?"
    )(id, worker): Unit

  private val isFree =
    s"""(worker_id IS NULL OR worker_id = ?
       |OR worker_id NOT IN (${Leases.living(database)}))""".stripMargin
