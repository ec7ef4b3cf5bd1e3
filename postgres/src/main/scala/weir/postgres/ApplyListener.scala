package weir.postgres

import scala.concurrent.duration.FiniteDuration

/** Receives the progress of scripts. Each method is called by the fiber that applies them, which
  * waits for it.
  */
trait ApplyListener:
  /** `offset` bytes of the script have been applied. */
  def usedUp(script: String, offset: Long): Unit = ()

  /** `lines` lines of data have been sent of the COPY that begins at `statement`. They become rows
    * when the COPY ends, and none of them if it fails.
    */
  def copying(script: String, statement: Piece.Statement, lines: Long): Unit = ()

  /** A statement has run, with its data if it is a COPY. */
  def statementDone(script: String, statement: Piece.Statement, done: Done, nanos: Long): Unit = ()

  /** A statement has failed and the next one runs, as `OnError.Continue` says. The error that ends
    * a script is thrown and not passed to this method.
    */
  def failed(error: ScriptException): Unit = ()

  /** The server has sent a notice, about the statement that begins at `position` if it is about
    * one.
    */
  def noticed(script: String, position: Option[Position], notice: ServerNotice): Unit = ()

  /** The server has not answered the statement that begins at `position` for `waited`: it is busy,
    * or it cannot be reached. Unlike the other methods this is called by a fiber of its own, while
    * the applying fiber waits.
    */
  def stalled(script: String, position: Option[Position], waited: FiniteDuration): Unit = ()

object ApplyListener:
  /** Ignores everything. */
  val none: ApplyListener = new ApplyListener {}
