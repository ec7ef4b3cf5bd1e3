package weir.postgres.apply

import weir.Task
import weir.postgres.{Done, Piece, ScriptException, Session}

/** Takes the results of a pipeline as those of statements that were sent one by one. */
private[apply] final class PipelineResults(
    session: Session,
    delivery: Delivery,
    output: Output,
    running: RunningStatement
) extends Pipeline.Run:
  def stopsOnError: Boolean = running.stopsOnError
  def isPrinting: Boolean = output.isPrinting

  def begins(statement: Piece.Statement, script: String): Unit = running.begins(statement, script)

  def done(item: Pipeline.Item)(using Task.Direct): Unit =
    val statement = item.statement.nn
    begins(statement, item.script)
    output.begin()
    if output.isPrinting && item.isDropped then throw Pipeline.dropped(item)
    if output.isPrinting then item.show(output)
    running.succeeded(statement, item.done, item.nanos)
    delivery.piped(statement)
    running.checked(statement)(output.end())

  def failed(statement: Piece.Statement, script: String, body: Array[Byte]): Unit =
    begins(statement, script)
    running.checked(statement)(throw session.errorOf(body))

  def refused(statement: Piece.Statement, script: String, why: ScriptException): Unit =
    begins(statement, script)
    running.failed(why)

  def aborted(statement: Piece.Statement, script: String): Unit =
    running.last.skipped()
    running.failed(Pipeline.skipped(statement, script))

  def synced(): Unit = running.last.succeeded(Done(0, ""))
