package weir.postgres.jobs

import weir.Task
import weir.postgres.{Done, Piece, Session}
import weir.postgres.journal.{Lane, SessionWatch}
import weir.postgres.send.Delivery

/** Sends statements as they are, and the data of a COPY over several connections where that may be. */
private[postgres] final class JobsDelivery(lane: Lane, session: SessionWatch, copies: ParallelCopy)
    extends Delivery:

  /** The transaction is the COPY's alone, and ours to end. */
  private var own = false

  def begin(script: String): Task[Unit] = Task.direct(session.begin())
  def end: Task[Unit] = Task.unit

  def statement(piece: Piece.Statement): Task[Option[Done]] =
    lane.execute(piece).map { done =>
      session.executed(piece)
      Some(done)
    }

  def beginCopy(piece: Piece.Statement): Task[Boolean] = Task.direct {
    own = lane.transaction == Session.Transaction.Idle
    copies.begin(piece, own)
    true
  }

  def copyData(piece: Piece.CopyData): Task[Unit] = orUndo(Task.direct(copies.data(piece)))

  def copyHasFailed: Boolean = lane.session.copyHasFailed

  def endCopy(piece: Piece): Task[Option[Done]] = orUndo(Task.direct {
    val rows = copies.end()
    if copies.parts > 1 then
      copies.commitOthers(_ => "")
      lane.run("COMMIT").await
    Some(Done(rows, s"COPY $rows"))
  })

  def abortCopy: Task[Unit] = Task.direct(copies.abort())

  /** The next statement, if there is one after an error, is in no transaction of ours. */
  private def orUndo[A](task: Task[A]): Task[A] = task.handleErrorWith { error =>
    val rollback = Task.defer {
      if own && !lane.isLost && lane.transaction != Session.Transaction.Idle then
        lane.run("ROLLBACK")
      else Task.unit
    }
    abortCopy.andThen(rollback).attempt.andThen(Task.fail(error))
  }
