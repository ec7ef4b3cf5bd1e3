package weir.postgres.journal

import scala.concurrent.duration.*
import weir.Task
import weir.postgres.{Done, Extended, Piece, Position, Resume, ScriptException, Session}
import weir.postgres.input.Checksum
import weir.postgres.jobs.{CopyTarget, MissingParts}
import weir.postgres.protocol.{SessionState, SessionWatch}

/** Applies the pieces of one script that the journal does not have yet, each in the transaction
  * that records it.
  *
  * README.md in this folder has the protocol, and why no piece is applied twice or left out. The
  * caller rolls back the open transaction after an error.
  *
  * @param go
  *   the place from which to go on: at the first statement that begins there or later, whatever the
  *   journal says
  * @param patience
  *   the time to wait for another run of the script to end
  */
private[postgres] final class Journaled(
    journal: Journal,
    checksum: Checksum,
    session: SessionWatch,
    copies: CopyTarget,
    chunkBytes: Int => Long,
    go: Option[Resume.Place],
    patience: FiniteDuration
):
  import Session.Transaction.*
  private val lane = journal.lane
  private val skipping = Skipping(journal.script, checksum, go)
  private val rows = JournaledRows(journal, checksum, skipping)
  private var entry: Option[JournalEntry] = None

  /** True if the caller has begun one transaction for all scripts: then one record at the end of
    * each is enough.
    */
  private var single = false

  /** True if the statement that has begun was applied before. */
  private var passes = false

  /** True if this run has taken the row over. */
  private var taken = false

  /** The number of pieces that have been skipped or applied. */
  private var pieces = 0L

  /** The last piece: its statement, and the offset of its end. */
  private var last: Piece.Statement | Null = null
  private var lastEnd = 0L

  /** The COPY that is open, if it is not skipped. */
  private var copying: Piece.Statement | Null = null
  private var target: CopyTarget | Null = null

  /** True if the transaction was begun for that COPY alone. */
  private var own = false

  /** Says at which place of the script the file is read that the next pieces are of; none if they
    * are of the script itself.
    */
  def within(place: Option[Position]): Unit = skipping.within = place

  /** Returns the script's row, before the first piece. */
  def begin()(using Task.Direct): Option[JournalEntry] =
    single = lane.transaction != Idle
    entry = journal.open(patience, isTold = go.nonEmpty).await
    skipping.begin(entry)
    entry

  /** Returns true if an earlier run has applied the piece after this place. */
  def isSkipping(at: Position): Boolean = skipping.isAt(at, pieces)

  /** Returns true if the session has the settings that the applied pieces have made. */
  def hasSettings: Boolean = taken

  /** Before each statement or COPY. Returns true if it is to be applied; the session has the
    * settings of the script then.
    */
  def begins(statement: Piece.Statement)(using Task.Direct): Boolean =
    passes = skipping.passes(statement, pieces)
    if !passes then takeOver()
    !passes

  /** Applies a statement that is no COPY, and returns its result; none if it was applied before. */
  def statement(statement: Piece.Statement)(using Task.Direct): Option[Done] =
    if passes then
      if rows.keeps(statement) then lane.session.keptRows = rows.recalled(statement, pieces)
      skipped(statement, statement.endOffset)
      None
    else
      val done = apply(statement)
      applied(statement, statement.endOffset)
      Some(done)

  /** Called after the last piece. **Fails** if the script is shorter than the applied part. */
  def end()(using Task.Direct): Unit =
    skipping.finish(pieces)
    if !single && lane.transaction != Idle then throw inTransaction
    val statement = last
    val unrecorded = if single then entry.forall(_.pieces < pieces) else go.nonEmpty && !taken
    if unrecorded && (statement ne null) then
      takeOver()
      recordAlone(statement, lastEnd)
    takeOver()
    alone(journal.finishing)

  private def skipped(statement: Piece.Statement, end: Long): Unit =
    pieces += 1
    skipping.passed(end, pieces)
    applied(statement, end)

  private def applied(statement: Piece.Statement, end: Long): Unit =
    last = statement
    lastEnd = end
    checksum.advance(end)

  /** Before the first piece that is applied: takes over the row, and restores the settings of the
    * last session.
    */
  private def takeOver()(using Task.Direct): Unit = if !taken then
    taken = true
    session.begin()
    journal.takeOver(entry).await
    entry.foreach { entry =>
      entry.settings.foreach(restore)
      if go.isEmpty then entry.chain.foreach(begin => lane.run(begin).await)
    }

  private def restore(text: String)(using Task.Direct): Unit =
    val settings = RecordedSettings.parse(text, skipping.cipher)
    val hidden = settings.collect { case (name, None) => name }
    // If all of the script is applied again, it sets them again.
    val missing = if pieces == 0 then Vector.empty else hidden.filterNot(session.has)
    if missing.nonEmpty then throw unreadable(missing)
    val readable =
      SessionState(settings.collect { case (name, Some(value)) => (name, value) }, Vector.empty)
    journal.restoring(Task.direct(session.restore(readable))).await

  private def apply(statement: Piece.Statement)(using Task.Direct): Done =
    rows.check(statement)
    val kind = StatementKind.of(statement)
    statement.extended match
      case Extended.Prepared(name)
          if name.isEmpty || StatementKind.ofText(statement) != StatementKind.Plain =>
        throw parsed(statement)
      case _ => ()
    kind match
      case StatementKind.Prepare => throw prepared(statement)
      case StatementKind.Joined => throw joined(statement)
      case _ if single => bare(statement)
      case _ if lane.transaction == Idle =>
        if kind.controls || session.readOnly then bare(statement) else wrapped(statement)
      case StatementKind.Commit(chained) => commit(statement, chained)
      case _ => bare(statement)

  /** Applies a statement unchanged: inside of the script's own transaction, or to begin or end one.
    */
  private def bare(statement: Piece.Statement)(using Task.Direct): Done =
    val wasIdle = lane.transaction == Idle
    val done = lane.execute(statement).await
    if wasIdle && lane.transaction != Idle then session.transactionBegins()
    session.executed(statement)
    val recording = rows.recording(statement, pieces)
    if recording.nonEmpty then
      if lane.transaction == Idle then alone(recording)
      else lane.run(session.asOurselves(recording)).handleErrorWith(journal.fenced).await
    pieces += 1
    if lane.transaction == Idle then
      if !wasIdle then session.rolledBack()
      recordAlone(statement, statement.endOffset)
    done

  private def wrapped(statement: Piece.Statement)(using Task.Direct): Done =
    lane.run("BEGIN").await
    lane.execute(statement).attempt.await match
      case Left(error) if Journaled.outside(lane.sqlState(error)) =>
        lane.run("ROLLBACK").await
        outside(statement)
      case Left(error) => throw error
      case Right(done) =>
        session.executed(statement)
        session.look()
        val recording = rows.recording(statement, pieces)
        val also = if recording.isEmpty then "" else s"; $recording"
        recordAndCommit(statement, statement.endOffset, also)
        done

  /** The record and the commit in one message: the server executes nothing after the first error.
    */
  private def recordAndCommit(statement: Piece.Statement, end: Long, also: String)(using
      Task.Direct
  ): Unit =
    val sql = session.asOurselves(journal.recording(record(statement, pieces + 1, end)) + also)
    lane.run(s"$sql; COMMIT").handleErrorWith(journal.fenced).await
    pieces += 1
    session.ended()

  /** Applies a statement that the server refuses in a transaction. It is noted in the journal
    * first, so that the next run knows if this one is killed meanwhile.
    */
  private def outside(statement: Piece.Statement)(using Task.Direct): Done =
    alone(journal.noting(Some(skipping.placeOf(statement).toString)))
    lane.execute(statement).attempt.await match
      case Left(error) =>
        if !lane.isLost then alone(journal.noting(None))
        throw error
      case Right(done) =>
        session.executed(statement)
        val recording = rows.recording(statement, pieces)
        if recording.nonEmpty then alone(recording)
        pieces += 1
        journal.relock.await
        recordAlone(statement, statement.endOffset)
        done

  /** The script's own COMMIT, with the record just before it in the same transaction. */
  private def commit(statement: Piece.Statement, chained: Boolean)(using Task.Direct): Done =
    val failed = lane.transaction == Failed
    val recorded = !failed && recordBefore(statement, chained)
    val done = lane.execute(statement).await
    if failed then session.rolledBack()
    pieces += 1
    val complete = recorded && session.isCertain && !session.isBound
    session.ended()
    if lane.transaction == Idle && !complete then recordAlone(statement, statement.endOffset)
    done

  /** Writes the record. Returns true if it is in the transaction; false if the transaction is
    * read-only and cannot write it.
    */
  private def recordBefore(statement: Piece.Statement, chained: Boolean)(using
      Task.Direct
  ): Boolean =
    session.look()
    val now = record(statement, pieces + 1, statement.endOffset)
    val sql = journal.recording(
      now.copy(chained = chained, state = now.state.filter(_ => session.isCertain))
    )
    val all = s"SAVEPOINT weir_sql; ${session.asOurselves(sql)}; RELEASE SAVEPOINT weir_sql"
    lane.run(all).attempt.await match
      case Right(_) => true
      case Left(error) if lane.sqlState(error) == Journaled.readOnlyTransaction =>
        lane.run("ROLLBACK TO SAVEPOINT weir_sql").await
        false
      case Left(error) => journal.fenced(error).await

  /** False if it was applied before. */
  def beginCopy(statement: Piece.Statement)(using Task.Direct): Boolean =
    copying = statement
    target = null
    if !passes then
      own = lane.transaction == Idle
      if own then lane.run("BEGIN").await
      val missing =
        if own && entry.exists(_.pieces == pieces) then journal.parts(pieces).await
        else Vector.empty
      val to =
        if missing.isEmpty then copies
        else
          skipping.expect(missing.head)
          MissingParts(lane, chunkBytes, missing.head.parts, missing.map(_.part).toSet)
      target = to
      to.begin(statement, own)
    target ne null

  def copyData(data: Piece.CopyData)(using Task.Direct): Unit =
    val to = target
    if to ne null then to.data(data)
    checksum.advance(data.endOffset)

  /** Returns the number of rows that the COPY has added; none if it was applied before. */
  def endCopy(end: Piece)(using Task.Direct): Option[Long] =
    val statement = copying.nn
    val to = target
    val rows = if to eq null then None else Some(to.end())
    if to eq null then skipped(statement, end.endOffset)
    else
      skipping.checkParts(end)
      commitCopy(statement, end.endOffset, to)
      applied(statement, end.endOffset)
    target = null
    rows

  private def commitCopy(statement: Piece.Statement, end: Long, to: CopyTarget)(using
      Task.Direct
  ): Unit =
    if !own then pieces += 1
    else
      val parts = to.parts
      if parts > 1 then
        val sum = checksum.at(end)
        to.commitOthers(part =>
          session.asOurselves(journal.recordingPart(Part(pieces, part, parts, end, sum)))
        )
      recordAndCommit(statement, end, s"; ${journal.forgettingParts}")

  /** Gives up the COPY that is open. */
  def abortCopy()(using Task.Direct): Unit =
    val to = target
    target = null
    if to ne null then to.abort()

  /** The record that `pieces` pieces have been applied, of which this is the last. */
  private def record(statement: Piece.Statement, pieces: Long, end: Long) = Applied(
    pieces,
    end,
    skipping.placeOf(statement).toString,
    checksum.at(end),
    checksum.keyAt(end),
    chained = false,
    Some(session.state)
  )

  /** The record of the piece that was counted last, in a transaction of its own. */
  private def recordAlone(statement: Piece.Statement, end: Long)(using Task.Direct): Unit =
    if !single || (last eq statement) then
      session.look()
      alone(journal.recording(record(statement, pieces, end)))

  private def alone(sql: String)(using Task.Direct): Unit =
    val ours = session.asOurselves(sql)
    val all = if single then ours else s"BEGIN READ WRITE; $ours; COMMIT"
    lane.run(all).handleErrorWith(journal.fenced).await

  private def parsed(statement: Piece.Statement) = ScriptException(
    journal.script,
    Some(skipping.placeOf(statement)),
    "\\parse cannot be applied with --resume if it has no name, or if its statement begins or " +
      "ends a transaction",
    None,
    Some("The journal writes its record between \\parse and \\bind_named. Send it with \\bind.")
  )

  private def prepared(statement: Piece.Statement) = ScriptException(
    journal.script,
    Some(skipping.placeOf(statement)),
    "PREPARE TRANSACTION cannot be applied with --resume",
    None,
    Some("The journal would be locked until it is committed. Apply this script without --resume.")
  )

  private def joined(statement: Piece.Statement) = ScriptException(
    journal.script,
    Some(skipping.placeOf(statement)),
    "statements joined by \\; that begin or end a transaction cannot be applied with --resume",
    None,
    Some("End them with a ; alone.")
  )

  /** The key to the secrets is a sum of the script up to the place to which it was applied. */
  private def unreadable(names: Vector[String]) = ScriptException(
    journal.script,
    None,
    s"the values of ${names.mkString(", ")} that the session had cannot be read from the " +
      "journal: they are encrypted with the " +
      "script up to the place to which it was applied, and --resume-at goes on before that",
    None,
    Some(
      "Go on at the statement that sets them, or give them with PGOPTIONS='-c NAME=VALUE', or " +
        "leave out --resume-at."
    )
  )

  private def inTransaction = ScriptException(
    journal.script,
    None,
    "the script has ended in the middle of a transaction, which is rolled back",
    None,
    Some("Is a COMMIT missing? With --resume each file ends the transactions that it begins.")
  )

private[postgres] object Journaled:
  private val readOnlyTransaction = "25006"

  /** Returns true if the statement was refused because of the transaction, before it had any
    * effect.
    */
  private def outside(sqlState: String): Boolean = sqlState == "25001" || sqlState == "2D000"
