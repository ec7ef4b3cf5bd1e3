package weir.postgres.jobs

import weir.Task
import weir.postgres.Piece
import weir.postgres.protocol.Lane

/** Sends over one connection the missing parts of a COPY of which a killed run has committed some.
  *
  * The chunks are those of that run, since a `RowCutter` cuts by the bytes of the body alone, and
  * so is their assignment: chunk i belongs to part i modulo the number of parts.
  */
private[postgres] final class MissingParts(
    lane: Lane,
    chunkBytes: Int => Long,
    of: Int,
    committed: Set[Int]
) extends CopyTarget:
  private val cutter = RowCutter(chunkBytes(of))
  private var part = 0

  def begin(statement: Piece.Statement, own: Boolean)(using Task.Direct): Unit =
    lane.session.beginCopy(statement.text).await

  def data(piece: Piece.CopyData)(using Task.Direct): Unit =
    var at = piece.from
    val until = piece.from + piece.length
    while at < until do
      val end = cutter.next(piece.bytes, at, until)
      if !committed(part) then lane.session.write(piece.bytes, at, end - at).await
      if cutter.chunkEnded then part = (part + 1) % of
      at = end

  def end()(using Task.Direct): Long = lane.session.endCopy.await
  def parts: Int = 1
  def commitOthers(record: Int => String)(using Task.Direct): Unit = ()
  def abort()(using Task.Direct): Unit = lane.session.abortCopy.await
