package weir.cli.sql.run

import weir.postgres.Piece

/** Counts the contents of scripts, piece by piece. */
final class Counted:
  private val kinds = StatementKinds()
  private var firstRow = 0L // the line at which the data of the COPY begins; 0 if there is none yet

  var statements, copies, rows, sizeBytes, dataBytes = 0L

  def add(piece: Piece): Unit = piece match
    case statement: Piece.Statement =>
      statements += 1
      kinds.add(statement)
      if statement.copies then
        copies += 1
        firstRow = 0
    case data: Piece.CopyData =>
      if firstRow == 0 then firstRow = data.start.line
      dataBytes += data.sizeBytes
    case end: Piece.CopyEnd => if firstRow > 0 then rows += end.start.line - firstRow
    case _: (Piece.Command | Piece.File) => ()

  /** Records the end of a script of this size. */
  def ended(sizeBytes: Long): Unit = this.sizeBytes += sizeBytes

  /** Each kind of statement with how often it came, the most frequent first. */
  def kindCounts: Vector[(String, Long)] = kinds.counts

  /** Returns the same figures as of a run. */
  def in(run: ScriptCounts.Snapshot): ScriptCounts.Snapshot =
    run.copy(scriptBytes = sizeBytes, statements = statements, copies = copies, rows = rows)
