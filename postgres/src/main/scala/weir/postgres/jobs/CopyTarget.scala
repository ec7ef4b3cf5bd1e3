package weir.postgres.jobs

import weir.Task
import weir.postgres.Piece
import weir.postgres.protocol.Lane

/** Receives the data of a COPY, for one connection or several. One COPY at a time.
  *
  * The caller or the script has begun a transaction on the first connection; `end` leaves it open.
  */
private[postgres] trait CopyTarget:
  /** @param own
    *   true if the transaction was begun for this COPY alone, and not by the script
    */
  def begin(statement: Piece.Statement, own: Boolean)(using Task.Direct): Unit
  def data(piece: Piece.CopyData)(using Task.Direct): Unit

  /** The number of rows, once all connections have ended their COPY. Nothing is committed yet. */
  def end()(using Task.Direct): Long

  /** The number of transactions that the COPY is split into. */
  def parts: Int

  /** Commits all parts but the first, each with the statement that `record` makes of its number. */
  def commitOthers(record: Int => String)(using Task.Direct): Unit

  /** Aborts the COPY on all connections. Uncommitted work of the other connections is rolled back.
    */
  def abort()(using Task.Direct): Unit

/** Sends all data over the first connection. */
private[postgres] final class OneConnection(lane: Lane) extends CopyTarget:
  def begin(statement: Piece.Statement, own: Boolean)(using Task.Direct): Unit =
    lane.session.beginCopy(statement.text).await
  def data(piece: Piece.CopyData)(using Task.Direct): Unit =
    lane.session.write(piece.bytes, piece.from, piece.length).await
  def end()(using Task.Direct): Long = lane.session.endCopy.await
  def parts: Int = 1
  def commitOthers(record: Int => String)(using Task.Direct): Unit = ()
  def abort()(using Task.Direct): Unit = lane.session.abortCopy.await
