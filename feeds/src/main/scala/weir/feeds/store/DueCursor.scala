package weir.feeds.store

/** Reads the due feeds of one half of the keys page by page, so that never all are in memory.
  *
  * Each page is a query of its own that goes on after the last row (no `OFFSET`, no open result),
  * so it stays right while the feeds it has returned are being checked and change.
  */
final class DueCursor private[store] (
    database: Database,
    line: Line,
    due: DueQuery,
    half: Int,
    pageSize: Int
) extends AutoCloseable:
  private var last: Option[DueFeed] = None

  /** The next page; empty at the end. */
  def nextPage(): Vector[DueFeed] =
    val page = line.use(connection => database.retrying(due.page(connection, half, last, pageSize)))
    last = page.lastOption.orElse(last)
    page

  def close(): Unit = line.close()
