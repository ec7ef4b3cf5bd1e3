package weir.cli.sql.run

import java.nio.charset.StandardCharsets.UTF_8
import scala.collection.mutable
import scala.concurrent.duration.*

import weir.postgres.{Piece, Position, SqlScript}

/** How far a run is; told by those that do the work, asked by whoever shows it.
  *
  * @param slowest
  *   how many of the slowest statements to keep
  */
final class Tally(scripts: Seq[SqlScript], slowest: Int):
  import Tally.*

  // immutable
  private val totalBytes: Option[Long] =
    Option.when(scripts.forall(_.sizeBytes.nonEmpty))(scripts.flatMap(_.sizeBytes).sum)

  // shared, under the monitor
  private val scriptBytes = mutable.LinkedHashMap.empty[String, Long]
  private var statements, copies, rows, errors = 0L
  private var parallel = 0L
  private var single = Map.empty[String, Long]
  private val kept = mutable.PriorityQueue.empty[Timed](using Ordering.by(-_.taken.toNanos))

  /** So much of the script has been applied. */
  def usedUp(script: String, offset: Long): Unit = synchronized { scriptBytes(script) = offset }

  def statementDone(
      script: String,
      statement: Piece.Statement,
      itsRows: Long,
      nanos: Long
  ): Unit = synchronized:
    statements += 1
    rows += itsRows
    if statement.copies then copies += 1
    if slowest > 0 && (kept.size < slowest || nanos > kept.head.taken.toNanos) then
      kept += Timed(script, statement.start, firstLine(statement.text), nanos.nanos)
      if kept.size > slowest then kept.dequeue(): Unit

  /** What the library has counted on its way. */
  def ended(parallelCopies: Long, singleCopies: Map[String, Long]): Unit = synchronized:
    parallel = parallelCopies
    single = singleCopies

  def failed(): Unit = synchronized { errors += 1 }

  def snapshot(): Snapshot = synchronized:
    Snapshot(
      totalBytes,
      scripts.map(_.readBytes).sum,
      scriptBytes.values.sum,
      statements,
      copies,
      rows,
      errors,
      parallel,
      single,
      kept.toVector.sortBy(-_.taken.toNanos)
    )

object Tally:
  private val firstLineBytes = 300

  /** A statement, with its first line and how long it took. */
  final case class Timed(
      script: String,
      position: Position,
      firstLine: String,
      taken: FiniteDuration
  )

  /** @param totalBytes
    *   of all scripts, as they stand on the disk; none if that is not known
    * @param readBytes
    *   of those
    * @param scriptBytes
    *   that have been applied, unpacked
    * @param parallelCopies
    *   how many COPYs went over several connections
    * @param singleCopies
    *   how many did not, though there was data enough, by the reason
    */
  final case class Snapshot(
      totalBytes: Option[Long],
      readBytes: Long,
      scriptBytes: Long,
      statements: Long,
      copies: Long,
      rows: Long,
      errors: Long,
      parallelCopies: Long,
      singleCopies: Map[String, Long],
      slowest: Vector[Timed]
  ):
    /** How much is done, from 0 to 1; none if nobody knows how much there is. */
    def doneShare: Option[Double] =
      totalBytes.filter(_ > 0).map(total => (readBytes.toDouble / total.toDouble).min(1))

  private def firstLine(statement: Array[Byte]): String =
    String(statement, 0, statement.length.min(firstLineBytes), UTF_8).linesIterator
      .nextOption()
      .getOrElse("")
