package weir.lab.load

import java.io.PrintWriter
import scala.collection.mutable

import weir.Task
import weir.lab.LabOptions
import weir.program.{ByteSize, Foreground, Text}

/** The whole of `weir load`: makes the script, has every loader load it in turn, and compares. */
final class LoadJob(settings: LoadJob.Settings, out: PrintWriter, err: PrintWriter):
  private val rounds = mutable.Map.empty[String, Vector[Loader.Took]]
  private var isComplete = true

  /** Returns the exit code. */
  def run(): Int =
    if Loader.findPsql().isEmpty then
      say(
        "psql is not installed, so its row is missing: it is part of the package postgresql-client."
      )
    val job =
      for
        _ <- Task(say(s"the script: ${Text.grouped(settings.rows)} rows, one COPY"))
        files <- Task.onPlatformThread(LoadFiles.of(settings.rows, settings.lab.seed))
        _ <- Task(say(s"${files.script}, ${ByteSize.show(files.bytes)}"))
        _ <- LoadDatabase.resource(settings.db).use(measure(files, _))
      yield finish(files)
    Foreground.run(job) match
      case Foreground.Ended.Done(code) => code
      case Foreground.Ended.Stopped(code, _) => code

  /** One after the other, again and again: what else the machine does hits all of them alike. Each
    * round begins with another one.
    */
  private def measure(files: LoadFiles, database: LoadDatabase): Task[Unit] =
    Task.foreach(1 to settings.rounds): round =>
      val from = (round - 1) % settings.loaders.size
      val turn = settings.loaders.drop(from) ++ settings.loaders.take(from)
      Task.foreach(turn)(loader => load(loader, round, files, database))

  private def load(
      loader: Loader,
      round: Int,
      files: LoadFiles,
      database: LoadDatabase
  ): Task[Unit] =
    for
      _ <- Task(database.empty())
      took <- Loader.run(loader, files, database)
    yield took.filterOrElse(
      _ => database.rows() == files.rows,
      s"the table has ${database.rows()} rows"
    ) match
      case Right(took) =>
        rounds(loader.system) = rounds.getOrElse(loader.system, Vector.empty) :+ took
        say(s"round $round, ${loader.system}: ${Text.decimal(took.run.toNanos / 1e9, 2)} s")
      case Left(why) =>
        isComplete = false
        err.println(s"${loader.system}: no result, since $why")

  private def finish(files: LoadFiles): Int =
    val table = LoadTable(files, rounds.toMap)
    val systems = settings.loaders.map(_.system)
    say("")
    table.lines(systems).foreach(say)
    settings.lab.hand("load", table.results(systems), isComplete)

  private def say(line: String): Unit =
    out.println(line)
    out.flush()

object LoadJob:
  /** @param db
    *   a URL, or `embedded`
    */
  final case class Settings(
      loaders: Vector[Loader],
      rows: Long,
      rounds: Int,
      db: String,
      lab: LabOptions.Checked
  )
