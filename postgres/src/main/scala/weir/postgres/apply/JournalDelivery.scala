package weir.postgres.apply

import java.security.SecureRandom
import java.util.HexFormat
import weir.Task
import weir.postgres.{Done, Piece, Position, Resume}
import weir.postgres.input.Checksum
import weir.postgres.jobs.CopyTarget
import weir.postgres.journal.{Journal, Journaled, ScriptKey}
import weir.postgres.protocol.{Lane, SessionWatch}

/** Applies the pieces of each script that its journal does not have yet.
  *
  * @param sums
  *   for each script, in their order, the checksum that its reader feeds; and the SHA-256 of its
  *   first n bytes, if it can be read twice
  */
private[postgres] final class JournalDelivery(
    lane: Lane,
    session: SessionWatch,
    copies: CopyTarget,
    chunkBytes: Int => Long,
    resume: Resume,
    sums: Iterator[(Checksum, Long => Option[Array[Byte]])]
) extends Delivery:
  private val token = HexFormat.of().formatHex(SecureRandom().generateSeed(12))
  private var current: Journaled | Null = null

  def begin(script: String): Task[Unit] = Task.direct {
    val (sum, sumOfFirst) = sums.next()
    val journaled = Journaled(
      Journal(lane, script, ScriptKey.of(script, resume), token, sumOfFirst),
      sum,
      session,
      copies,
      chunkBytes,
      resume.at,
      resume.patience
    )
    current = journaled
    resume.found(script, journaled.begin().map(_.before))
  }

  def end: Task[Unit] = Task.direct(current.nn.end())

  override def within(place: Option[Position]): Unit = current.nn.within(place)

  override def isSkipping(at: Position): Boolean = current.nn.isSkipping(at)

  override def hasSettings: Boolean = current.nn.hasSettings

  def begins(piece: Piece.Statement): Task[Boolean] =
    Task.direct(current.nn.begins(piece))

  def statement(piece: Piece.Statement): Task[Option[Done]] =
    Task.direct(current.nn.statement(piece))

  def beginCopy(piece: Piece.Statement): Task[Boolean] =
    Task.direct(current.nn.beginCopy(piece))

  def copyData(piece: Piece.CopyData): Task[Unit] = Task.direct(current.nn.copyData(piece))

  def copyHasFailed: Boolean = lane.session.copyHasFailed

  def endCopy(piece: Piece): Task[Option[Done]] =
    Task.direct(current.nn.endCopy(piece).map(rows => Done(rows, s"COPY $rows")))

  def abortCopy: Task[Unit] = Task.direct {
    val journaled = current
    if journaled ne null then journaled.abortCopy()
  }
