package weir.postgres

import scala.concurrent.duration.FiniteDuration

/** Is told how far scripts are. Each call is made by the fiber that applies them, and holds it up. */
trait ApplyListener:
  /** `offset` bytes of the script have been used up. */
  def usedUp(script: String, offset: Long): Unit = ()

  /** Of the COPY that begins at `statement`, so many lines of data have been sent. They are rows once it is done, and none if it
    * fails.
    */
  def copying(script: String, statement: Piece.Statement, lines: Long): Unit = ()

  /** A statement has run, with its data if it is a COPY. */
  def statementDone(script: String, statement: Piece.Statement, done: Done, nanos: Long): Unit = ()

  /** A statement has failed, and the next one runs, as `OnError.Continue` says. The error that ends a script is not told but
    * thrown.
    */
  def failed(error: ScriptException): Unit = ()

  /** The server has told something, about the statement that begins at `position` if it came from one. */
  def noticed(script: String, position: Option[Position], notice: ServerNotice): Unit = ()

  /** The server has not answered for so long to the statement that begins at `position`: it works on it, or is gone. Unlike the
    * others this is called by a fiber of its own, while the one that applies waits.
    */
  def stalled(script: String, position: Option[Position], waited: FiniteDuration): Unit = ()

object ApplyListener:
  /** Nobody is told. */
  val none: ApplyListener = new ApplyListener {}
