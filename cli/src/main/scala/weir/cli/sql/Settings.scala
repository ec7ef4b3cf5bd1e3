package weir.cli.sql

import java.nio.file.Path

import weir.cli.BadInput

/** What the options ask for, checked and complete.
  *
  * @param inputs
  *   in the order in which they are applied
  * @param db
  *   none means what libpq's environment variables say
  * @param prefetch
  *   how much may be read ahead of what is sent: pieces on the left, bytes on the right
  */
final case class Settings(
    inputs: Vector[Settings.Input],
    db: Option[String],
    isSingleTransaction: Boolean,
    stopsOnError: Boolean,
    isDryRun: Boolean,
    isResuming: Boolean,
    jobs: Int,
    prefetch: Either[Int, Long],
    maxStatementBytes: Int,
    slowest: Int,
    isKeeping: Boolean,
    isQuiet: Boolean,
    json: Option[Path]
):
  def isEmbedded: Boolean = db.contains(EmbeddedServer.name)

  /** '''Fails''' with [[BadInput]] if the options do not go together. */
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
    if isResuming && inputs.contains(Settings.Input.StandardInput) then
      refuse("--resume", "standard input cannot be read again.", "Name a file.")
    if isResuming && !stopsOnError then
      refuse(
        "--resume",
        "it goes on at the statement that failed, and --on-error continue passes over it.",
        "Leave out one of the two."
      )
    if isKeeping && !isEmbedded then
      refuse("--keep", "only an embedded server can be kept up.", "Add --db embedded.")

object Settings:
  enum Input:
    case StandardInput

    /** @param sizeBytes
      *   as it stands on the disk, packed or not; none for what is no ordinary file
      */
    case File(path: Path, sizeBytes: Option[Long])

    /** What errors call it. */
    def name: String = this match
      case StandardInput => "<stdin>"
      case File(path, _) => path.toString
