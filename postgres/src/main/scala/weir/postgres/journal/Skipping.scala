package weir.postgres.journal

import java.util.Arrays
import weir.postgres.{Piece, Position, Resume, ScriptException, Secrets}
import weir.postgres.input.Checksum

/** Decides which pieces of a script were applied by earlier runs, and checks that they have not
  * changed.
  */
private[postgres] final class Skipping(
    script: String,
    checksum: Checksum,
    go: Option[Resume.Place]
):
  private var entry: Option[JournalEntry] = None
  private var skips = true

  /** The place of the script at which the file is read that the pieces are of; none if they are of
    * the script itself.
    */
  var within: Option[Position] = None

  /** The statement that may or may not have been applied, and its place in the script. */
  private var uncertain: Piece.Statement | Null = null
  private var uncertainAt = Position.start
  private var expected: Option[Part] = None

  /** The key to the secrets of the entry, once the applied pieces have been skipped. */
  private var key: Option[Array[Byte]] = None

  def cipher: Option[SettingCipher] = key.map(SettingCipher(_))

  def begin(entry: Option[JournalEntry]): Unit = this.entry = entry

  /** Returns the place of the statement in the script: if it is in another file, that at which the
    * file is read.
    */
  def placeOf(statement: Piece.Statement): Position = within.getOrElse(statement.start)

  /** Returns true if this statement, the one after `pieces` pieces, is skipped.
    *
    * **Fails** where the journal does not say enough to go on.
    */
  def passes(statement: Piece.Statement, pieces: Long): Boolean =
    if skips then
      skips = go match
        case Some(at) =>
          val place = placeOf(statement)
          at.isAfter(place.line, place.column)
        case None => entry.exists(entry => pieces < entry.pieces || mustStop(entry, statement))
    skips

  /** Returns true if a statement at this place, after `pieces` pieces, is skipped. */
  def isAt(start: Position, pieces: Long): Boolean = skips && (go match
    case Some(at) =>
      val place = within.getOrElse(start)
      at.isAfter(place.line, place.column)
    case None => entry.exists(pieces < _.pieces))

  /** Returns true if the statement is in doubt and must not run. The next statement then completes
    * the message with its position.
    */
  private def mustStop(entry: JournalEntry, statement: Piece.Statement): Boolean =
    val before = uncertain
    if before ne null then throw notKnown(before, placeOf(statement).toString)
    if entry.uncertain.nonEmpty && !StatementKind.mayRepeat(statement) then
      uncertain = statement
      uncertainAt = placeOf(statement)
      true
    else if entry.bound.nonEmpty then throw bound(entry, statement)
    else if entry.settings.isEmpty then throw unknownSettings(entry, statement)
    else false

  /** Called after a piece that was skipped, the last of `pieces`, which ends at `end`. **Fails** if
    * it differs from the applied one.
    */
  def passed(end: Long, pieces: Long): Unit =
    entry.filter(_.pieces == pieces).foreach { entry =>
      val same = end == entry.bytes && Arrays.equals(checksum.at(end), entry.checksum)
      if !same then throw changed(entry)
      key = Some(checksum.keyAt(end))
    }

  /** At the end of the script, which has `pieces`. */
  def finish(pieces: Long): Unit =
    val before = uncertain
    if before ne null then throw notKnown(before, "end")
    entry
      .filter(entry => skips && pieces < entry.pieces)
      .foreach(entry =>
        throw refused(
          s"has $pieces statements now, and ${entry.pieces} of it were applied (the last on " +
            s"${entry.applied})"
        )
      )

  /** Some parts of the next COPY have been committed: its data must be the same. */
  def expect(part: Part): Unit = expected = Some(part)

  /** At the end of that COPY. **Fails** before the rest of it is committed. */
  def checkParts(end: Piece): Unit =
    expected.foreach { part =>
      val same = part.bytes == end.endOffset &&
        Arrays.equals(checksum.at(end.endOffset), part.checksum)
      if !same then
        throw refused(
          s"has changed in the COPY data before ${end.start}, of which a part was applied"
        )
    }
    expected = None

  private def changed(entry: JournalEntry) = refused(
    s"has changed up to the statement at ${entry.place}, which was applied on ${entry.applied} " +
      s"(${entry.pieces} statements, ${entry.bytes} bytes)"
  )

  private def refused(what: String) = ScriptException(
    script,
    None,
    s"the script $what. Nothing was applied now",
    None,
    Some(
      "The applied part must not change; change only the part after it. To apply a new script, " +
        "give it a new name. To apply another script of the same name, name its folder, too."
    )
  )

  private def notKnown(statement: Piece.Statement, next: String) = ScriptException(
    script,
    Some(uncertainAt),
    "it is not known whether this statement was applied: it cannot run in a transaction, and a " +
      "run was " +
      "killed while it ran",
    Some(Skipping.shown(statement)),
    Some(
      if uncertainAt == statement.start then
        s"Check in the database whether it was. If so, go on with --resume-at $next; " +
          s"if not, with --resume-at $uncertainAt."
      else
        "It is in a file that the script reads here. Check in the database whether it was, apply " +
          "the rest of that file by itself, and go on with --resume-at after this place."
    )
  )

  private def bound(entry: JournalEntry, statement: Piece.Statement) = ScriptException(
    script,
    Some(placeOf(statement)),
    "the script cannot go on here in a new session: the session that has ended had objects that " +
      "later statements may use",
    Some(entry.bound.mkString(", ")),
    Some(
      s"To go on without them: --resume-at ${placeOf(statement)}" +
        ". To make them again, go on at the statement that makes them; all statements after that " +
        "are applied again."
    )
  )

  private def unknownSettings(entry: JournalEntry, statement: Piece.Statement) = ScriptException(
    script,
    Some(placeOf(statement)),
    "the settings of the session are not known: a run was killed just after the COMMIT at " +
      s"${entry.place}, " +
      "of a transaction with SET LOCAL",
    None,
    Some(s"To go on with the settings of a new session: --resume-at ${placeOf(statement)}.")
  )

private[postgres] object Skipping:
  /** Returns the beginning of the statement, in one line, without secrets. */
  def shown(statement: Piece.Statement): String =
    val text = Secrets.mask(String(statement.text.take(2000), "UTF-8")).replaceAll("\\s+", " ")
    if statement.text.length > 2000 || text.length > 200 then s"${text.take(200)}…" else text
