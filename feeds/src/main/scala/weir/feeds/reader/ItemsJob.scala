package weir.feeds.reader

import java.io.PrintWriter
import java.time.ZoneId
import scala.annotation.tailrec

import weir.feeds.store.{Database, FeedLookup, ItemQuery, StoreReader}

/** Runs `weir feeds items`: prints the stored items, newest first. */
final class ItemsJob(settings: ItemsJob.Settings, out: PrintWriter, err: PrintWriter):
  private val lines = ItemLines(LocalTime(ZoneId.systemDefault))

  /** Prints the items, and returns the exit code. **Fails** with a [[weir.program.BadInput]] before
    * anything is printed if the database or the feed does not exist.
    */
  def run(): Int =
    val store = StoreReader.open(Database.of(settings.db))
    try
      val feed = settings.feed.map: typed =>
        store.read(FeedLookup.find(_, store.name, "--feed", typed))
      val query = ItemQuery(feed, settings.sinceMillis)
      print(store, query, last = None, settings.limit.getOrElse(Long.MaxValue))
      0
    finally store.close()

  /** Prints page by page, so that never all items are in memory. Stops when nothing more can be
    * written, as when the reader is `head`.
    */
  @tailrec
  private def print(
      store: StoreReader,
      query: ItemQuery,
      last: Option[ItemQuery.Place],
      left: Long
  ): Unit =
    val limit = left.min(ItemsJob.pageSize).toInt
    val page = store.read(query.page(_, last, limit))
    if last.isEmpty && page.isEmpty then err.println("no items")
    val texts =
      if settings.isJson then
        val details = store.read(ItemQuery.details(_, page.map(_.id)))
        // An item that was removed meanwhile has no details.
        page.flatMap(item => details.get(item.id).map(lines.json(item, _)))
      else page.map(item => settings.columns.fold(lines.withTabs(item))(lines.forTerminal(item, _)))
    out.print(texts.mkString)
    val isWritten = !out.checkError()
    if isWritten && page.size == limit && left > limit then
      print(store, query, page.lastOption.map(_.place), left - limit)

object ItemsJob:
  /** @param feed
    *   the address of the only feed to list; none for all
    * @param limit
    *   none for all items
    * @param columns
    *   the width of the terminal, if the output is one
    */
  final case class Settings(
      db: String,
      feed: Option[String],
      sinceMillis: Option[Long],
      limit: Option[Long],
      isJson: Boolean,
      columns: Option[Int]
  )

  private val pageSize = 200L
