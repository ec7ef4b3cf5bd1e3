package weir.feeds.manage

import java.io.PrintWriter

import weir.feeds.store.{Database, FeedQuery, StoreReader}

/** The whole of `weir feeds export`: prints the feeds as OPML. */
final class ExportJob(db: String, out: PrintWriter):
  /** Returns the exit code. **Fails** with [[weir.program.BadInput]] if there is no database of
    * feeds.
    */
  def run(): Int =
    val reader = StoreReader.open(Database.of(db))
    try
      val feeds = reader.read(FeedQuery(FeedQuery.Show.All).page(_, 0, Int.MaxValue))
      OpmlText.of(feeds).foreach(out.print)
      out.flush()
      0
    finally reader.close()
