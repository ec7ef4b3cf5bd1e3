package weir.postgres.jobs

import weir.Task
import weir.postgres.Piece
import weir.postgres.journal.Lane

/** Where the data of a COPY goes: one connection or several. One COPY at a time.
  *
  * The caller has put the first connection into a transaction, or the script has; `end` leaves it there.
  */
private[postgres] trait CopyTarget:
  /** @param own
    *   that the transaction is this COPY's alone, and not the script's
    */
  def begin(statement: Piece.Statement, own: Boolean)(using Task.Direct): Unit
  def data(piece: Piece.CopyData)(using Task.Direct): Unit

  /** The number of rows, once all connections have taken theirs. Nothing is committed yet. */
  def end()(using Task.Direct): Long

  /** How many transactions the COPY is in. */
  def parts: Int

  /** Commits all parts but the first, each with the statement that `record` makes of its number. */
  def commitOthers(record: Int => String)(using Task.Direct): Unit

  /** Gives the COPY up wherever it has begun. What other connections have not committed is rolled back. */
  def abort()(using Task.Direct): Unit

/** All data to the first connection. */
private[postgres] final class OneConnection(lane: Lane) extends CopyTarget:
  def begin(statement: Piece.Statement, own: Boolean)(using Task.Direct): Unit =
    lane.session.beginCopy(statement.text).await
  def data(piece: Piece.CopyData)(using Task.Direct): Unit =
    lane.session.write(piece.bytes, piece.from, piece.length).await
  def end()(using Task.Direct): Long = lane.session.endCopy.await
  def parts: Int = 1
  def commitOthers(record: Int => String)(using Task.Direct): Unit = ()
  def abort()(using Task.Direct): Unit = lane.session.abortCopy.await
