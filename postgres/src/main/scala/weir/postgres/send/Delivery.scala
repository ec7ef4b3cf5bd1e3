package weir.postgres.send

import weir.Task
import weir.postgres.{Done, Piece, Session}

/** Does with the pieces of a script what is to be done with them: the one place at which a journal, or several connections, come
  * in. `Applying` calls one method at a time, in the order of the script.
  *
  * Each '''Fails''' with a `ServerError`, which is then about this piece, or with a `ScriptException` that is placed already.
  * None is done that was not to be done: it has been applied before.
  */
private[postgres] trait Delivery:
  /** Before the first piece of a script. */
  def begin(script: String): Task[Unit]

  /** After the last piece of a script. */
  def end: Task[Unit]

  def statement(piece: Piece.Statement): Task[Option[Done]]

  /** True if its data is sent, false if that has been done before. If this fails, none of the data comes here. */
  def beginCopy(piece: Piece.Statement): Task[Boolean]
  def copyData(piece: Piece.CopyData): Task[Unit]

  /** The server takes no more data, and `endCopy` will say why. */
  def copyHasFailed: Boolean

  /** The end of the data, or the end of what the server takes; no data comes after it. */
  def endCopy(piece: Piece): Task[Option[Done]]

  /** A script has been cut off in the middle of a COPY, if one is open. */
  def abortCopy: Task[Unit]

/** Sends each piece as it is. */
private[postgres] final class PlainDelivery(session: Session) extends Delivery:
  def begin(script: String): Task[Unit] = Task.unit
  def end: Task[Unit] = Task.unit
  def statement(piece: Piece.Statement): Task[Option[Done]] =
    session.execute(piece.text).map(Some(_))
  def beginCopy(piece: Piece.Statement): Task[Boolean] = session.beginCopy(piece.text).as(true)
  def copyData(piece: Piece.CopyData): Task[Unit] =
    session.write(piece.bytes, piece.from, piece.length)
  def copyHasFailed: Boolean = session.copyHasFailed
  def endCopy(piece: Piece): Task[Option[Done]] =
    session.endCopy.map(rows => Some(Done(rows, s"COPY $rows")))
  def abortCopy: Task[Unit] = session.abortCopy
