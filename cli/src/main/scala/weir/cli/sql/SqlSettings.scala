package weir.cli.sql

import java.nio.file.{Files, Path}

import weir.postgres.{Prefetch, PsqlOptions, Resume, ScriptLimits, SqlScript}
import weir.program.BadInput

/** The settings of `weir sql`: its options, checked and complete.
  *
  * @param inputs
  *   the inputs, in the order in which they are applied
  * @param db
  *   the database; none means the one of libpq's environment variables
  * @param slowest
  *   the number of statements that are listed; none means the default: several on a terminal
  * @param resumeAt
  *   the place from which to go on, whatever the journal says
  */
final case class SqlSettings(
    inputs: Vector[SqlSettings.Input],
    db: Option[String],
    isSingleTransaction: Boolean,
    stopsOnError: Boolean,
    psql: PsqlOptions,
    isDryRun: Boolean,
    isResuming: Boolean,
    resumeAt: Option[Resume.Place],
    jobs: Int,
    pipelines: Boolean,
    prefetch: Prefetch,
    maxStatementBytes: Int,
    slowest: Option[Int],
    isKeeping: Boolean,
    isQuiet: Boolean,
    showsStages: Boolean,
    json: Option[Path]
):
  def isEmbedded: Boolean = db.contains(EmbeddedServer.name)

  /** Returns true if a run with these settings could keep a journal for the next one. */
  def canResume: Boolean =
    inputs.forall(_.isOrdinary) && stopsOnError && !isEmbedded

  /** **Fails** with [[BadInput]] if the options do not go together.
    */
  def refuseConflicts(): Unit =
    def refuse(place: String, problem: String, hint: String) = throw BadInput(place, problem, hint)
    if isSingleTransaction && jobs > 1 then
      refuse(
        s"--jobs $jobs",
        "several connections cannot be one transaction.",
        "Leave out --single-transaction, or --jobs."
      )
    if isSingleTransaction && !stopsOnError then
      refuse(
        "--on-error continue",
        "after an error the transaction can only be rolled back.",
        "Leave out --single-transaction, or --on-error."
      )
    if isResuming && inputs.contains(SqlSettings.Input.StandardInput) then
      refuse("--resume", "standard input cannot be read again.", "Name a file.")
    if isResuming && !stopsOnError then
      refuse(
        "--resume",
        "it goes on at the statement that failed, and --on-error continue passes over it.",
        "Leave out one of the two."
      )
    if pipelines && (isResuming || jobs > 1) then
      refuse(
        "--pipeline",
        "with --resume or --jobs each statement waits for the one before it.",
        "Leave out one of the two."
      )
    if isResuming && isEmbedded then
      refuse("--resume", "an embedded server begins empty each time.", "Leave it out.")
    if resumeAt.nonEmpty && inputs.size > 1 then
      refuse("--resume-at", "a place is one of a single script.", "Name one file.")
    if isResuming then
      val names = inputs.map(input => Resume.path(input.name))
      names
        .diff(names.distinct)
        .headOption
        .foreach: name =>
          refuse(
            "--resume",
            s"$name is named twice, and the journal knows a file by its path.",
            "Name it once."
          )
    if isKeeping && !isEmbedded then
      refuse("--keep", "only an embedded server can be kept up.", "Add --db embedded.")

object SqlSettings:
  enum Input:
    case StandardInput

    case File(path: Path)

    /** A file that holds the same once more, which a pipe does not. */
    def isOrdinary: Boolean = this match
      case StandardInput => false
      case File(path) => Files.isRegularFile(path)

    /** Returns the name of the input in errors. */
    def name: String = this match
      case StandardInput => "<stdin>"
      case File(path) => path.toString

    def script(maxStatementBytes: Int): SqlScript =
      val limits = ScriptLimits(maxStatementBytes)
      this match
        case StandardInput => SqlScript.standardInput(limits)
        case File(path) => SqlScript.file(path, limits)
