package weir.feeds

import java.io.PrintWriter
import scala.concurrent.duration.*

import weir.feeds.store.{Database, LeaseQuery, StoreReader}
import weir.program.{DurationText, Text}

/** Runs `weir feeds status`, which lists the feeds that each process fetches.
  *
  * @param limit
  *   the number of feeds that are listed for a process
  */
final class StatusJob(db: String, limit: Int, out: PrintWriter):
  /** Returns the exit code. **Fails** with [[weir.program.BadInput]] if there is no database of
    * feeds.
    */
  def run(): Int =
    val database = Database.of(db)
    val reader = StoreReader.open(database)
    try
      val query = LeaseQuery(database)
      val workers = reader.read(query.workers)
      val fetching = workers.filter(_.isAlive).map(_.feeds).sum
      out.println(
        s"${Text.count(workers.count(_.isAlive), "run")} of weir feeds on ${reader.name}, " +
          s"${Text.count(fetching, "feed")} being fetched"
      )
      for worker <- workers do
        out.println(line(worker))
        for feed <- reader.read(query.feedsOf(_, worker.id, limit)) do
          out.println(s"  ${feed.url}  for ${show(feed.sinceMillis)}")
        if worker.feeds > limit then
          out.println(s"  and ${Text.grouped(worker.feeds - limit)} more")
      val held = reader.read(query.heldHosts)
      for (host, left) <- held.take(limit) do
        out.println(s"$host wants a pause, and is not asked for ${DurationText.show(left)}")
      if held.size > limit then out.println(s"and ${Text.count(held.size - limit, "host")} more")
      out.flush()
      0
    finally reader.close()

  private def line(worker: LeaseQuery.Worker): String =
    val feeds = Text.count(worker.feeds, "feed")
    if worker.isAlive then
      s"${worker.name}  since ${show(worker.sinceMillis)}, has $feeds; if it dies, others can " +
        s"have them in ${show(worker.leftMillis)}"
    else if worker.feeds == 0 then s"${worker.name}  gone for ${show(-worker.leftMillis)}"
    else s"${worker.name}  gone for ${show(-worker.leftMillis)}; others can have its $feeds"

  private def show(millis: Long): String = DurationText.show(millis.max(0).millis)
