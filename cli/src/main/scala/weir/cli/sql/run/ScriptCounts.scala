package weir.cli.sql.run

import weir.postgres.{Piece, SqlScript}

/** Counts what a run has read and applied. The fibers that do the work write the counts; the
  * display reads them.
  */
final class ScriptCounts(scripts: Seq[SqlScript]):
  import ScriptCounts.*

  // immutable
  private val totalBytes: Option[Long] =
    Option.when(scripts.forall(_.sizeBytes.nonEmpty))(scripts.flatMap(_.sizeBytes).sum)

  // shared, under the monitor
  private var script = "" // the one that was applied last, up to `offset`
  private var offset = 0L
  private var bytesBefore = 0L // of the scripts before it
  private var statements, copies, rows, errors = 0L
  private var rowsOnTheirWay = 0L

  /** Records that the script has been applied up to `offset`. */
  def usedUp(script: String, offset: Long): Unit = synchronized:
    if script ne this.script then
      bytesBefore += this.offset
      this.script = script
    this.offset = offset

  /** Records how many rows of the running COPY have been sent. */
  def copying(itsRows: Long): Unit = synchronized { rowsOnTheirWay = itsRows }

  def statementDone(statement: Piece.Statement, itsRows: Long): Unit = synchronized:
    statements += 1
    rows += itsRows
    rowsOnTheirWay = 0
    if statement.copies then copies += 1

  /** Records how much has been split, in a run that applies nothing. */
  def split(statements: Long, rows: Long): Unit = synchronized:
    this.statements = statements
    this.rows = rows

  def failed(): Unit = synchronized:
    errors += 1
    rowsOnTheirWay = 0

  def snapshot(): Snapshot = synchronized:
    Snapshot(
      totalBytes,
      scripts.map(_.readBytes).sum,
      bytesBefore + offset,
      statements,
      copies,
      rows,
      rowsOnTheirWay,
      errors
    )

object ScriptCounts:
  /** @param totalBytes
    *   the compressed size of all scripts; none if it is not known
    * @param readBytes
    *   how many of those bytes have been read
    * @param scriptBytes
    *   the number of bytes that have been applied, decompressed
    * @param rowsOnTheirWay
    *   how many rows of the running COPY have been sent
    */
  final case class Snapshot(
      totalBytes: Option[Long],
      readBytes: Long,
      scriptBytes: Long,
      statements: Long,
      copies: Long,
      rows: Long,
      rowsOnTheirWay: Long,
      errors: Long
  ):
    /** Returns the share that is done, from 0 to 1; none if the total is not known. */
    def doneShare: Option[Double] =
      totalBytes.filter(_ > 0).map(total => (readBytes.toDouble / total.toDouble).min(1))
