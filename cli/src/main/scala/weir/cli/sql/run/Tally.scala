package weir.cli.sql.run

import scala.collection.mutable
import scala.concurrent.duration.FiniteDuration

import weir.postgres.Position

/** How far a run is; told by those that do the work, asked by whoever shows it.
  *
  * @param totalBytes
  *   of all scripts, as they stand on the disk; none if that is not known
  * @param slowest
  *   how many of the slowest statements to keep
  */
final class Tally(val totalBytes: Option[Long], slowest: Int):
  import Tally.*

  // shared, under the monitor
  private var doneBytes, scriptBytes, statements, copies, parallelCopies, rows, rowsUnderWay,
      errors = 0L
  private val kept = mutable.PriorityQueue.empty[Timed](using Ordering.by(-_.taken.toNanos))

  /** So much of the files on the disk has been done with. */
  def reached(bytes: Long): Unit = synchronized:
    if bytes > doneBytes then doneBytes = bytes

  /** A script of so many bytes, unpacked, is done with. */
  def scriptEnded(bytes: Long): Unit = synchronized { scriptBytes += bytes }

  /** The COPY that is being sent has come this far. */
  def copying(rowsSent: Long): Unit = synchronized { rowsUnderWay = rowsSent }

  def statementEnded(statement: Timed, isCopy: Boolean, isParallel: Boolean, itsRows: Long): Unit =
    synchronized:
      statements += 1
      rows += itsRows
      rowsUnderWay = 0
      if isCopy then copies += 1
      if isParallel then parallelCopies += 1
      if slowest > 0 then
        kept += statement
        if kept.size > slowest then kept.dequeue(): Unit

  def failed(): Unit = synchronized(errors += 1)

  def snapshot(): Snapshot = synchronized:
    Snapshot(
      totalBytes,
      doneBytes,
      scriptBytes,
      statements,
      copies,
      parallelCopies,
      rows + rowsUnderWay,
      errors,
      kept.toVector.sortBy(-_.taken.toNanos)
    )

object Tally:
  /** A statement, with its first line and how long it took. */
  final case class Timed(
      script: String,
      position: Position,
      firstLine: String,
      taken: FiniteDuration
  )

  final case class Snapshot(
      totalBytes: Option[Long],
      doneBytes: Long,
      scriptBytes: Long,
      statements: Long,
      copies: Long,
      parallelCopies: Long,
      rows: Long,
      errors: Long,
      slowest: Vector[Timed]
  ):
    /** How much is done, from 0 to 1; none if nobody knows how much there is. */
    def doneShare: Option[Double] =
      totalBytes.filter(_ > 0).map(total => (doneBytes.toDouble / total.toDouble).min(1))
