package weir.feeds.report

import java.io.PrintWriter

import weir.feeds.reader.PlainText
import weir.feeds.run.FeedCounts
import weir.program.Text

/** Names the feeds that failed, and nothing else. */
object Failures:
  /** Prints a line for each, sorted by address. */
  def print(counts: FeedCounts.Snapshot, err: PrintWriter): Unit =
    for failed <- counts.failures.sortBy(_.url) do
      err.println(PlainText.line(s"${failed.url}: ${failed.why}"))
    val rest = counts.failed - counts.failures.size
    if rest > 0 then err.println(s"… and ${Text.grouped(rest)} more")
    err.flush()
