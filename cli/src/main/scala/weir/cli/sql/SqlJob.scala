package weir.cli.sql

import java.io.PrintWriter
import java.nio.file.{Files, Path}
import java.util.concurrent.atomic.AtomicReference
import scala.concurrent.duration.*
import scala.util.control.NonFatal

import weir.{Resource, Stream, Task}
import weir.cli.sql.report.*
import weir.cli.sql.run.*
import weir.postgres.*
import weir.program.{BadInput, ErrorTerminal, Foreground, ResultFile}
import weir.program.report.RunReport
import weir.std.StreamMonitor

/** The whole of `weir sql`: applies the scripts, or only splits them, and prints the result. */
final class SqlJob(settings: SqlSettings, out: PrintWriter, err: PrintWriter):
  private val scripts = settings.inputs.map(_.script(settings.maxStatementBytes))
  private val counts = ScriptCounts(scripts)
  private val clock = RunClock()
  private val isTerminal = ErrorTerminal.isThere
  private val columns = if isTerminal then ErrorTerminal.columns() else SqlJob.usualColumns
  private val progress = Progress.on(err, settings.isQuiet)
  private val errors = ErrorReport(
    ErrorText(columns, ErrorText.isColoured(isTerminal, sys.env)),
    (name, position) =>
      // A file that a script has read is none of them.
      val known = scripts.find(_.name == name).orElse(SqlJob.fileOf(name))
      known.flatMap(_.lineAt(position))
  )
  private val monitor = Option.when(settings.showsStages)(StreamMonitor.unsafe())

  /** The latest database and its server, once there is a connection. */
  private val server = AtomicReference[Option[String]](None)

  private val listener =
    RunListener(counts, clock, progress, errors, out, place => server.set(Some(place)))

  /** The exit code, once the run is over and only a server is kept up. */
  private val ended = AtomicReference[Option[Int]](None)

  /** Returns the exit code.
    *
    * **Fails** with [[weir.program.BadInput]] before anything has been changed.
    */
  def run(): Int =
    // Loading the driver may take a while on a slow machine; that is nothing for a user of the
    // program.
    weir.WeirRuntime.default.onSpin(_ => ())
    try
      Foreground.run(if settings.isDryRun then dryRun else onDatabase, SqlJob.stopTime) match
        case Foreground.Ended.Done(code) => code
        case Foreground.Ended.Stopped(code, isClean) =>
          ended.get.getOrElse:
            Interruption.lines(settings, counts.snapshot(), server.get).foreach(err.println)
            if !isClean then Runtime.getRuntime.halt(code)
            code
    catch
      case told: (BadInput | ResultFile.NotWritten) => throw told
      case NonFatal(error) => failed(error)
      case _: OutOfMemoryError =>
        failed("the memory is too small. Give the JVM more: WEIR_JAVA_OPTS=-Xmx160m")

  private def onDatabase: Task[Int] =
    Database
      .url(settings)
      .use: url =>
        val connections = connection(url)
        val applied = connections
          .evalTap(one => Task(server.set(Some(one.place))))
          .use(one => Progress.during(progress, counts, applyTo(one, connections)))
          .attempt
          .map(tell)
        if !settings.isKeeping then applied
        else
          applied
            .map(code => ended.set(Some(code)))
            .flatMap(_ => Database.keepUp(url, out.println))

  private def connection(url: String): Resource[ScriptConnection] =
    ScriptConnection
      .open(url)
      .handleErrorWith:
        case bad: IllegalArgumentException =>
          Resource.eval(
            Task.fail(
              BadInput(
                "--db",
                bad.getMessage.stripPrefix("requirement failed: "),
                "See weir sql --help."
              )
            )
          )
        case other => Resource.eval(Task.fail(other))

  private def applyTo(
      connection: ScriptConnection,
      more: Resource[ScriptConnection]
  ): Task[ApplySummary] =
    val options = ApplyOptions(
      onError = if settings.stopsOnError then OnError.Stop else OnError.Continue,
      singleTransaction = settings.isSingleTransaction,
      prefetch = settings.prefetch,
      slowest = settings.slowest.getOrElse(if isTerminal then SqlJob.usualSlowest else 0),
      resume = Option.when(settings.isResuming)(Resume(at = settings.resumeAt, found = tellFound)),
      jobs = Option.when(settings.jobs > 1)(MoreConnections(settings.jobs, more)),
      monitor = monitor,
      psql = settings.psql,
      pipeline = settings.pipelines
    )
    SqlScripts.applyTo(connection, scripts.toList, options, listener)

  private def tellFound(script: String, before: Option[Resume.Before]): Unit =
    if !settings.isQuiet then
      before.flatMap(Resumption.line(script, _, settings.resumeAt)).foreach(err.println)

  /** Prints the result and returns the exit code. */
  private def tell(result: Either[Throwable, ApplySummary]): Int =
    for stages <- monitor.map(_.snapshot) if stages.stretches.nonEmpty do err.println(stages.table)
    if listener.noticesLeftOut > 0 then
      err.println(s"and ${listener.noticesLeftOut} more of that kind")
    result match
      case Right(applied) =>
        val summary = Summary(counts.snapshot(), Some(applied), clock.elapsed, columns)
        val prints = settings.psql.results != Results.Dropped
        if !settings.isQuiet then summary.print(if prints then err else out)
        write(summary)
        ExitCode.done
      case Left(error: ScriptException) =>
        errors.lines(Problem.of(error)).foreach(err.println)
        val isLost = error.server.exists(_.connectionLost)
        // An error without a position is about the transaction as a whole.
        val isUncertain = isLost && error.position.isEmpty
        Interruption
          .lines(settings, counts.snapshot(), server.get, isUncertain)
          .foreach(err.println)
        counts.failed()
        write(Summary(counts.snapshot(), error.summary, clock.elapsed, columns))
        if isLost then ExitCode.connection else ExitCode.script
      case Left(error: ServerError) =>
        err.println(s"weir sql: ${error.problem}")
        (error.detail ++ error.hint).foreach(err.println)
        ExitCode.connection
      case Left(error) => throw error

  private def dryRun: Task[Int] =
    val counted = Counted()
    val counting = Task.direct:
      for script <- scripts do
        var end = 0L
        for piece <- timed(script.piecesWith(settings.psql, SqlJob.encoding)) do
          counted.add(piece)
          piece match
            case statement: Piece.Statement => statement.discard()
            case _ => ()
          end = piece.endOffset
          counts.split(counted.statements, counted.rows)
        counted.ended(end)
    Progress
      .during(progress, counts, counting)
      .attempt
      .map:
        case Right(()) =>
          val taken = clock.elapsed
          if !settings.isQuiet then DrySummary(counted, taken).print(out)
          write(Summary(counted.in(counts.snapshot()), None, taken, columns))
          ExitCode.done
        case Left(error) => tell(Left(error))

  private def timed(pieces: Stream[Piece]): Stream[Piece] = pieces.map: piece =>
    clock.read()
    piece

  private def write(summary: Summary): Unit =
    val results = SummaryResults.of(summary, clock.millisToFirstByte)
    RunReport.of("sql", 0, results).write(settings.json)

  private def failed(error: Throwable): Int = failed(error.toString)

  private def failed(why: String): Int =
    err.println(Secrets.mask(s"weir sql: the run failed: $why").linesIterator.mkString(" "))
    Interruption.lines(settings, counts.snapshot(), server.get).foreach(err.println)
    ExitCode.own

object SqlJob:
  private val usualColumns = 120
  private val usualSlowest = 5
  private def encoding = sys.env.getOrElse("PGCLIENTENCODING", "UTF8")

  private def fileOf(name: String): Option[SqlScript] =
    Option.when(Files.isRegularFile(Path.of(name)))(SqlScript.file(Path.of(name)))

  /** Within this time the server is asked to cancel, and answers; then the open transaction is
    * rolled back.
    */
  private val stopTime = 3.seconds
