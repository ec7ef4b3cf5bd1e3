package weir.postgres.apply

import weir.Task
import weir.postgres.{Done, Piece, Session}
import weir.postgres.jobs.ParallelCopy
import weir.postgres.protocol.{Lane, SessionWatch}

/** Sends statements as they are, and the data of a COPY over several connections where it can be
  * cut.
  */
private[postgres] final class JobsDelivery(lane: Lane, session: SessionWatch, copies: ParallelCopy)
    extends Delivery:

  /** True if the open transaction was begun for this COPY alone, and ends with it. */
  private var own = false

  /** The delivery after the session has gone to another database, of which the jobs know nothing;
    * null before that.
    */
  private var elsewhere: PlainDelivery | Null = null

  override def reconnected: Task[Unit] = Task.defer {
    elsewhere = PlainDelivery(lane.session)
    copies.leave
  }

  def begin(script: String): Task[Unit] = plain(_.begin(script))(Task.direct(session.begin()))
  def end: Task[Unit] = Task.unit

  def begins(piece: Piece.Statement): Task[Boolean] = Task.pure(true)

  def statement(piece: Piece.Statement): Task[Option[Done]] =
    plain(_.statement(piece))(lane.execute(piece).map { done =>
      session.executed(piece)
      Some(done)
    })

  override def piped(piece: Piece.Statement): Unit =
    if elsewhere eq null then session.executed(piece)

  def beginCopy(piece: Piece.Statement): Task[Boolean] = plain(_.beginCopy(piece))(Task.direct {
    own = lane.transaction == Session.Transaction.Idle
    copies.begin(piece, own)
    true
  })

  override def askCopy: Task[Unit] = plain(_.askCopy)(Task.direct(copies.ask()))

  def copyData(piece: Piece.CopyData): Task[Unit] =
    plain(_.copyData(piece))(orUndo(Task.direct(copies.data(piece))))

  def copyHasFailed: Boolean = lane.session.copyHasFailed

  def endCopy(piece: Piece): Task[Option[Done]] = plain(_.endCopy(piece))(orUndo(Task.direct {
    val rows = copies.end()
    if copies.parts > 1 then
      copies.commitOthers(_ => "")
      lane.run("COMMIT").await
    Some(Done(rows, s"COPY $rows"))
  }))

  def abortCopy: Task[Unit] = plain(_.abortCopy)(Task.direct(copies.abort()))

  private def plain[A](there: PlainDelivery => Task[A])(here: => Task[A]): Task[A] =
    val other = elsewhere
    if other ne null then there(other) else here

  /** Ends the transaction that was begun for the COPY, so that a next statement after the error is
    * not in it.
    */
  private def orUndo[A](task: Task[A]): Task[A] = task.handleErrorWith { error =>
    val rollback = Task.defer {
      if own && !lane.isLost && lane.transaction != Session.Transaction.Idle then
        lane.run("ROLLBACK")
      else Task.unit
    }
    abortCopy.andThen(rollback).attempt.andThen(Task.fail(error))
  }
