package weir.postgres.apply

import weir.Task
import weir.postgres.{Done, Piece, Position, Session}
import weir.postgres.protocol.Exchange

/** Delivers the pieces of a script to the server: unchanged, over several connections, or with a
  * record in a journal. `Applying` calls one method at a time, in the order of the script.
  *
  * Each method **fails** with a `ServerError`, which is about the given piece, or with a
  * `ScriptException` that has its position already. `None`: applied by an earlier run, skipped.
  */
private[postgres] trait Delivery:
  /** Before the first piece of a script. */
  def begin(script: String): Task[Unit]

  /** Before the pieces of another file, which the script reads at this place; none at its end.
    */
  def within(place: Option[Position]): Unit = ()

  /** The session has gone on over another connection. */
  def reconnected: Task[Unit] = Task.unit

  /** After the last piece of a script. */
  def end: Task[Unit]

  /** Returns true if an earlier run has come further than this place, and so has printed what the
    * script prints here.
    */
  def isSkipping(at: Position): Boolean = false

  /** Returns true if the session has the settings that the script has made up to here; false if
    * they are those of a new session, as long as pieces are skipped.
    */
  def hasSettings: Boolean = true

  /** Before each statement or COPY. Returns true if it is to be applied: the session has the
    * settings of the script then. False if an earlier run has applied it.
    */
  def begins(piece: Piece.Statement): Task[Boolean]

  def statement(piece: Piece.Statement): Task[Option[Done]]

  /** A statement of a pipeline has run. */
  def piped(piece: Piece.Statement): Unit = ()

  /** Sends the statements that a source returns, until it returns none; `None` if this delivery
    * takes them one by one. The task **fails** with a `ServerError` about the oldest without a
    * result, and with what the source throws.
    */
  def exchanging: Option[Exchange.Source => Task[Unit]] = None

  /** Begins a COPY. Returns true if its data must be sent, and false if an earlier run has applied
    * it. If this fails, `copyData` is not called.
    */
  def beginCopy(piece: Piece.Statement): Task[Boolean]

  /** Nothing, once the server has agreed to the COPY that was begun, before its first data. */
  def askCopy: Task[Unit] = Task.unit

  def copyData(piece: Piece.CopyData): Task[Unit]

  /** Returns true if the server has reported an error in the open COPY; `endCopy` fails with it. */
  def copyHasFailed: Boolean

  /** The end of the data, or an early end after an error of the server; `copyData` is not called
    * after it.
    */
  def endCopy(piece: Piece): Task[Option[Done]]

  /** Gives up the open COPY, if there is one. */
  def abortCopy: Task[Unit]

/** Sends each piece unchanged. */
private[postgres] final class PlainDelivery(session: Session) extends Delivery:
  def begin(script: String): Task[Unit] = Task.unit
  def end: Task[Unit] = Task.unit
  def begins(piece: Piece.Statement): Task[Boolean] = Task.pure(true)
  def statement(piece: Piece.Statement): Task[Option[Done]] =
    session.send(piece).map(Some(_))
  override def exchanging: Option[Exchange.Source => Task[Unit]] =
    Option.when(session.exchanges)(session.exchange(_))
  def beginCopy(piece: Piece.Statement): Task[Boolean] = session.beginCopy(piece.text).as(true)
  def copyData(piece: Piece.CopyData): Task[Unit] =
    session.write(piece.bytes, piece.from, piece.length)
  def copyHasFailed: Boolean = session.copyHasFailed
  def endCopy(piece: Piece): Task[Option[Done]] =
    session.endCopy.map(rows => Some(Done(rows, s"COPY $rows")))
  def abortCopy: Task[Unit] = session.abortCopy
