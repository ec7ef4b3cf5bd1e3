package weir.postgres.journal

import weir.Task
import weir.postgres.{Piece, ScriptException}
import weir.postgres.input.Checksum
import weir.postgres.protocol.KeptRows

/** The rows that the script's variables are set from: the journal has them for later runs, which
  * skip their statements.
  */
private[journal] final class JournaledRows(
    journal: Journal,
    checksum: Checksum,
    skipping: Skipping
):
  /** True if the journal is known to have a table for them. */
  private var isThere = false

  /** Returns true if the script needs the rows of the statement later. */
  def keeps(statement: Piece.Statement): Boolean = statement.answer == Piece.Answer.Kept

  /** Before a statement is applied. **Fails** if its rows could not be recorded. */
  def check(statement: Piece.Statement)(using Task.Direct): Unit =
    if keeps(statement) && !hasTable then
      throw problem(
        statement,
        "the journal, which an earlier version has made, has no table for the rows of statements",
        s"Its owner can make it: ${Journal.answers}."
      )

  /** Returns what records the rows of the statement that has just been executed, after `pieces`
    * others; empty if nothing needs them.
    */
  def recording(statement: Piece.Statement, pieces: Long): String =
    if !keeps(statement) then ""
    else
      val rows = RecordedRows.encode(journal.lane.session.keptRows)
      if rows.length > JournaledRows.most then
        throw problem(
          statement,
          s"the rows of this statement are ${rows.length} characters, and the journal takes " +
            s"${JournaledRows.most}",
          "Apply this script without --resume."
        )
      val key = checksum.keyAt(statement.endOffset)
      journal.recordingRows(pieces, SettingCipher(key).seal(rows))

  /** Returns the rows that the statement, which is skipped after `pieces` others, has returned to
    * an earlier run.
    */
  def recalled(statement: Piece.Statement, pieces: Long)(using Task.Direct): KeptRows | Null =
    val recorded = if hasTable then journal.rows(pieces).await else None
    val key = checksum.keyAt(statement.endOffset)
    recorded.flatMap(SettingCipher(key).open(_)) match
      case Some(text) => RecordedRows.parse(text)
      case None =>
        throw problem(
          statement,
          "the journal does not have the rows of this statement, or the script has changed " +
            "before it",
          "Go on at this statement or before it, with --resume-at."
        )

  private def hasTable(using Task.Direct): Boolean =
    if !isThere then isThere = journal.hasRows.await
    isThere

  private def problem(statement: Piece.Statement, what: String, hint: String) =
    ScriptException(journal.script, Some(skipping.placeOf(statement)), what, None, Some(hint))

private object JournaledRows:
  /** The length of the rows of one statement that the journal takes. */
  private val most = 1_000_000
