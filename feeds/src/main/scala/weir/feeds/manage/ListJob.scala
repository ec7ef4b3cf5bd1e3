package weir.feeds.manage

import java.io.PrintWriter
import java.time.ZoneId

import weir.feeds.reader.LocalTime
import weir.feeds.store.{Database, FeedQuery, ListedFeed, StoreReader}

/** The whole of `weir feeds list`: prints the feeds, and how their checks have gone. */
final class ListJob(settings: ListJob.Settings, out: PrintWriter, err: PrintWriter):
  import settings.*

  /** Returns the exit code. **Fails** with [[weir.program.BadInput]] if there is no database of
    * feeds.
    */
  def run(): Int =
    val reader = StoreReader.open(Database.of(db))
    try
      val show = if isFailing then FeedQuery.Show.Failing else FeedQuery.Show.All
      val found = reader.read(FeedQuery(show).page(_, 0, Int.MaxValue))
      val feeds = sort.fold(found)(_.apply(found, staleMillis))
      if feeds.isEmpty then err.println("no feeds")
      val lines = FeedLines(LocalTime(ZoneId.systemDefault), staleMillis)
      val form: ListedFeed => String =
        if isJson then lines.json
        else columns.fold(lines.withTabs)(width => lines.forTerminal(_, width))
      if columns.nonEmpty && !isJson && feeds.nonEmpty then out.print(lines.heading)
      feeds.iterator.takeWhile(_ => !out.checkError()).foreach(feed => out.print(form(feed)))
      0
    finally reader.close()

object ListJob:
  /** @param sort
    *   none means by title, and with `isFailing` the longest failing first
    * @param columns
    *   the width of the terminal, if the output is one
    */
  final case class Settings(
      db: String,
      sort: Option[FeedSort],
      isFailing: Boolean,
      staleMillis: Long,
      isJson: Boolean,
      columns: Option[Int]
  )
