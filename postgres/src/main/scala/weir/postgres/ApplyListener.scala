package weir.postgres

import scala.concurrent.duration.FiniteDuration

/** Receives the progress of scripts. Each method is called by the fiber that applies them, which
  * waits for it.
  */
trait ApplyListener:
  /** Called when the first piece of a script has been read. */
  def begun(script: String): Unit = ()

  /** Called when `offset` bytes of the script have been applied. */
  def usedUp(script: String, offset: Long): Unit = ()

  /** Called when `lines` lines of data have been sent of the COPY that begins at `statement`. They
    * become rows when the COPY ends. If it fails, none of them does.
    */
  def copying(script: String, statement: Piece.Statement, lines: Long): Unit = ()

  /** Called when a statement has run, with its data if it is a COPY. */
  def statementDone(script: String, statement: Piece.Statement, done: Done, nanos: Long): Unit = ()

  /** Called when a statement has failed and the next one runs, because of `OnError.Continue`. The
    * error that ends a script is thrown and not passed to this method.
    */
  def failed(error: ScriptException): Unit = ()

  /** Called when the server has sent a notice. If it is about a statement, `position` is the
    * beginning of that statement.
    */
  def noticed(script: String, position: Option[Position], notice: ServerNotice): Unit = ()

  /** Called when the server has not answered the statement that begins at `position` for `waited`:
    * it is busy, or it cannot be reached. Unlike the other methods, this one is called by a
    * separate fiber, while the applying fiber waits.
    */
  def stalled(script: String, position: Option[Position], waited: FiniteDuration): Unit = ()

  /** Called when a command of psql prints `text`, which has a newline at its end unless it is to
    * have none: `\echo`, `\qecho`, or for errors `\warn`.
    */
  def printed(script: String, text: String, isForErrors: Boolean): Unit = ()

  /** Called when `\connect` has moved the session to another connection. `place` is its database
    * and server, as in `ScriptConnection.place`.
    */
  def connected(place: String): Unit = ()

  /** Called when the command of psql at `position` only displays, and is passed over: `name` is
    * `pset`, for example.
    */
  def passedOver(script: String, position: Position, name: String): Unit = ()

object ApplyListener:
  /** Ignores everything. */
  val none: ApplyListener = new ApplyListener {}
