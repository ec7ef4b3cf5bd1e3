package weir.cli.sql.run

import scala.collection.mutable

import weir.postgres.{Piece, SqlScript}

/** The progress of a run: written by the fibers that do the work, read by the display. */
final class ScriptCounts(scripts: Seq[SqlScript]):
  import ScriptCounts.*

  // immutable
  private val totalBytes: Option[Long] =
    Option.when(scripts.forall(_.sizeBytes.nonEmpty))(scripts.flatMap(_.sizeBytes).sum)

  // shared, under the monitor
  private val scriptBytes = mutable.LinkedHashMap.empty[String, Long]
  private var statements, copies, rows, errors = 0L
  private var rowsOnTheirWay = 0L

  /** So much of the script has been applied. */
  def usedUp(script: String, offset: Long): Unit = synchronized { scriptBytes(script) = offset }

  /** So many rows of the COPY that runs have been sent. */
  def copying(itsRows: Long): Unit = synchronized { rowsOnTheirWay = itsRows }

  def statementDone(statement: Piece.Statement, itsRows: Long): Unit = synchronized:
    statements += 1
    rows += itsRows
    rowsOnTheirWay = 0
    if statement.copies then copies += 1

  /** So much has been split, where nothing is applied. */
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
      scriptBytes.values.sum,
      statements,
      copies,
      rows,
      rowsOnTheirWay,
      errors
    )

object ScriptCounts:
  /** @param totalBytes
    *   of all scripts, still packed; none if that is not known
    * @param readBytes
    *   of those
    * @param scriptBytes
    *   that have been applied, unpacked
    * @param rowsOnTheirWay
    *   that have been sent of a COPY that has not ended
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
    /** How much is done, from 0 to 1; none if the total is not known. */
    def doneShare: Option[Double] =
      totalBytes.filter(_ > 0).map(total => (readBytes.toDouble / total.toDouble).min(1))
