package weir.feeds.reader

import java.io.PrintWriter
import java.time.ZoneId

import weir.Task
import weir.feeds.store.{Database, StoreReader}
import weir.program.Foreground

/** The whole of `weir feeds serve`: serves until Ctrl-C. */
final class ServeJob(settings: ServeJob.Settings, out: PrintWriter):
  /** Serves until a signal, and returns the exit code of that signal. **Fails** with a
    * [[weir.program.BadInput]] if there is no database, or if the port is not available.
    */
  def run(): Int =
    val store = StoreReader.open(Database.of(settings.db))
    try
      val times = LocalTime(ZoneId.systemDefault)
      val server = ReaderServer.start(store, settings.port, times, settings.staleMillis)
      try
        Foreground.run[Int](say(server).andThen(Task.never)) match
          case Foreground.Ended.Done(code) => code
          case Foreground.Ended.Stopped(code, _) => code
      finally server.close()
    finally store.close()

  private def say(server: ReaderServer): Task[Unit] =
    Task.delay:
      out.println(s"${server.address} shows what is in ${settings.shownDb}")
      out.println("Ctrl-C ends it")
      out.flush()

object ServeJob:
  /** @param staleMillis
    *   the value of the option `--stale` of `weir feeds`
    */
  final case class Settings(db: String, port: Int, staleMillis: Long):
    /** Returns the database without a password. */
    def shownDb: String = Database.of(db).name
