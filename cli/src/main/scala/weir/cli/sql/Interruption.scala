package weir.cli.sql

import weir.cli.sql.run.ScriptCounts
import weir.program.Text

/** Tells the user what a run that was interrupted has applied, and how to go on. */
object Interruption:
  /** @param server
    *   the database and its server, if there was a connection
    * @param isUncertain
    *   that the connection was lost while the server committed
    */
  def lines(
      settings: SqlSettings,
      counts: ScriptCounts.Snapshot,
      server: Option[String],
      isUncertain: Boolean = false
  ): Vector[String] =
    import counts.*
    val share = doneShare.fold("")(share => s" (${(share * 100).toInt} % read)")
    // Statements that were executed are applied only once they are committed.
    val what = if settings.isDryRun then "split" else "executed"
    val where = server.fold("")(place => s" in $place")
    val far =
      s"${Text.count(statements, "statement")}, ${Text.count(rows, "row")} $what$where$share"
    val left =
      if settings.isDryRun then "; nothing was sent."
      else if isUncertain then "; it is not known if they are committed."
      else if settings.isSingleTransaction then ", and rolled back: nothing has changed."
      else if settings.isResuming then "; the same command goes on where it ended."
      else "; uncommitted statements are rolled back." + advice(settings, counts)
    Vector(far + left)

  /** Advises `--resume` if a journal would have helped, and could have been kept. */
  private def advice(settings: SqlSettings, counts: ScriptCounts.Snapshot): String =
    if counts.statements > 0 && settings.canResume then
      " Begun with --resume, the same command would go on there."
    else ""
