package weir.cli.command

import java.util.concurrent.Callable

import picocli.CommandLine.{Command, Option as Opt, Parameters, Spec}
import picocli.CommandLine.Model.CommandSpec

import weir.cli.sql.{ExitCode, InputFiles, PsqlVariables, Rehearsal, SqlJob, SqlSettings}
import weir.postgres.{Prefetch, Results, Resume, ScriptLimits}
import weir.program.{BadInput, ByteSize, OptionValue}

/** `weir sql`: its options, and nothing else. */
@Command(
  name = "sql",
  sortOptions = false,
  exitCodeOnInvalidInput = ExitCode.own,
  description = Array(
    "Apply SQL scripts of any size to a Postgres database, as psql -f does, such as those " +
      "that pg_dump writes. It needs constant memory, and reports the exact position of an " +
      "error.",
    ""
  ),
  footer = Array(
    "",
    "A size is written like 512kB, 16MB or 1GB.",
    "Exit code, as psql's: 0 if all was applied, 1 for bad input or an error of the " +
      "program's own, 2 if there was no connection or it was lost, 3 if the script failed; 130 " +
      "after Ctrl-C.",
    ""
  )
)
final class Sql extends Callable[Int]:
  @Spec
  private[command] var spec: CommandSpec = scala.compiletime.uninitialized

  @Parameters(
    paramLabel = "FILE",
    arity = "1..*",
    description = Array(
      "The scripts, which are applied in this order; - is standard input. Files compressed " +
        "by gzip or zstd are decompressed."
    )
  )
  private[command] var files: Array[String] = Array.empty

  @Opt(
    names = Array("--db"),
    paramLabel = "URL",
    description = Array(
      "postgresql://USER@HOST/DATABASE, or any other address that psql takes, or " +
        "jdbc:postgresql:…; embedded starts a server of the program's own, to try things out. " +
        "Default: the database of psql's variables, PGHOST, PGDATABASE and so on."
    )
  )
  private[command] var db: String | Null = null

  @Opt(
    names = Array("-1", "--single-transaction"),
    description = Array("Apply everything or nothing.")
  )
  private[command] var isSingleTransaction: Boolean = false

  @Opt(
    names = Array("--on-error"),
    paramLabel = "stop|continue",
    description = Array(
      "What to do when a statement fails. Default: $" + "{DEFAULT-VALUE}; psql's is continue."
    )
  )
  private[command] var onError: String = "stop"

  @Opt(
    names = Array("-v", "--set", "--variable"),
    paramLabel = "NAME=VALUE",
    description = Array(
      "Set a variable of psql before the first script, as psql's -v does."
    )
  )
  private[command] var variables: Array[String] = Array.empty

  @Opt(
    names = Array("--output"),
    paramLabel = "table|csv|none",
    description = Array(
      "Print the rows of statements on standard output, as psql -q does, and the summary on " +
        "standard error. Default: $" + "{DEFAULT-VALUE}."
    )
  )
  private[command] var output: String = "none"

  @Opt(
    names = Array("--strict"),
    description = Array(
      "Refuse psql's commands that only display, such as \\d, instead of passing over them."
    )
  )
  private[command] var isStrict: Boolean = false

  @Opt(
    names = Array("--allow-shell"),
    description = Array("Run the programs that the scripts name, as with psql's \\!.")
  )
  private[command] var allowsShell: Boolean = false

  @Opt(
    names = Array("--dry-run"),
    description = Array("Split and count only. No database is needed.")
  )
  private[command] var isDryRun: Boolean = false

  @Opt(
    names = Array("--resume"),
    description = Array(
      "Keep a journal in the database, and go on at the point where an earlier run with " +
        "--resume ended, however it ended."
    )
  )
  private[command] var isResuming: Boolean = false

  @Opt(
    names = Array("--resume-at"),
    paramLabel = "LINE[:COLUMN]|end",
    description = Array(
      "As --resume, but go on at the first statement that begins at this place or later, " +
        "whatever the journal says."
    )
  )
  private[command] var resumeAt: String | Null = null

  @Opt(
    names = Array("--jobs"),
    paramLabel = "N",
    description = Array(
      "Send the data of large COPYs over N connections at once. That is not one transaction. " +
        "Default: $" +
        "{DEFAULT-VALUE}."
    )
  )
  private[command] var jobs: String = "1"

  @Opt(
    names = Array("--pipeline"),
    description = Array(
      "In a transaction, and with --on-error continue everywhere, send statements before the " +
        "results of those before them are there. Faster where the server is far away."
    )
  )
  private[command] var pipelines: Boolean = false

  @Opt(
    names = Array("--prefetch"),
    paramLabel = "N|SIZE",
    description = Array(
      "Read at most N pieces, or this number of bytes, ahead of the server. Default: " +
        "$" + "{DEFAULT-VALUE}."
    )
  )
  private[command] var prefetch: String = "1MB"

  @Opt(
    names = Array("--max-statement"),
    paramLabel = "SIZE",
    description = Array(
      "Refuse a longer statement, which may lack a closing quote. Default: what a server takes, " +
        "1.07 GB; COPY data has no limit."
    )
  )
  private[command] var maxStatement: String | Null = null

  @Opt(
    names = Array("--slowest"),
    paramLabel = "N",
    description = Array("List the N slowest statements. Default: 5 on a terminal, elsewhere none.")
  )
  private[command] var slowest: String | Null = null

  @Opt(
    names = Array("--keep"),
    description = Array(
      "With --db embedded: keep the server running until Ctrl-C, and print its URL."
    )
  )
  private[command] var isKeeping: Boolean = false

  @Opt(
    names = Array("-q", "--quiet"),
    description = Array("Print only errors, and warnings of the server.")
  )
  private[command] var isQuiet: Boolean = false

  @Opt(
    names = Array("--stages"),
    description = Array(
      "At the end, show on standard error how busy the splitting and the sending were, and how " +
        "long each waited for the other."
    )
  )
  private[command] var showsStages: Boolean = false

  @Opt(
    names = Array("--json"),
    paramLabel = "FILE",
    description = Array("Also write the results to this file, as JSON.")
  )
  private[command] var json: String | Null = null

  def call(): Int =
    val line = spec.commandLine
    // The start-up cache is to hold both ways to send, over one connection and over several.
    val runs = if Rehearsal.isOne then List(settings.copy(jobs = 1), settings) else List(settings)
    runs.map(SqlJob(_, line.getOut, line.getErr).run()).max

  private def settings: SqlSettings =
    val checked = SqlSettings(
      inputs = InputFiles.check(files.toSeq),
      db = Option(db),
      isSingleTransaction = isSingleTransaction,
      stopsOnError = OptionValue.choice("--on-error", onError, "stop" -> true, "continue" -> false),
      psql = PsqlVariables.options(variables.toSeq, isStrict, allowsShell, results),
      isDryRun = isDryRun,
      isResuming = isResuming || resumeAt != null,
      resumeAt = Option(resumeAt).map(place),
      jobs = OptionValue.count("--jobs", jobs, 1, 64),
      pipelines = pipelines,
      prefetch = ByteSize.countOrBytes("--prefetch", prefetch, 1024, 1_000_000_000L) match
        case Left(0) => Prefetch.Off
        case Left(count) => Prefetch.Pieces(count)
        case Right(bytes) => Prefetch.Bytes(bytes),
      maxStatementBytes = Option(maxStatement).fold(ScriptLimits.most)(
        ByteSize.parse("--max-statement", _, 1, ScriptLimits.most).toInt
      ),
      slowest = Option(slowest).map(OptionValue.count("--slowest", _, 0, 1000)),
      isKeeping = isKeeping,
      isQuiet = isQuiet,
      showsStages = showsStages,
      json = Option(json).map(OptionValue.target("--json", _))
    )
    checked.refuseConflicts()
    checked

  private def results: Results = OptionValue.choice(
    "--output",
    output,
    "none" -> Results.Dropped,
    "table" -> Results.Table,
    "csv" -> Results.Csv
  )

  private def place(text: String): Resume.Place =
    Resume.Place
      .parse(text)
      .getOrElse:
        throw BadInput("--resume-at", s"'$text' is no place.", "Write it like 120, 120:1 or end.")
