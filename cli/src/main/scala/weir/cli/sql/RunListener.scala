package weir.cli.sql

import java.io.PrintWriter
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicLong
import scala.concurrent.duration.*

import weir.cli.sql.report.{ErrorReport, Problem, Progress}
import weir.cli.sql.run.{RunClock, ScriptCounts}
import weir.postgres.{ApplyListener, Done, Piece, Position, ScriptException, ServerNotice}

/** Counts what is applied, and prints notices and errors meanwhile.
  *
  * @param moved
  *   called with the database and server to which `\connect` has gone
  */
final class RunListener(
    counts: ScriptCounts,
    clock: RunClock,
    progress: Progress,
    errors: ErrorReport,
    out: PrintWriter,
    moved: String => Unit
) extends ApplyListener:
  private val told = AtomicLong()
  private val passedOver = ConcurrentHashMap.newKeySet[(String, String)]()

  override def begun(script: String): Unit = clock.read()

  override def usedUp(script: String, offset: Long): Unit = counts.usedUp(script, offset)

  override def copying(script: String, statement: Piece.Statement, lines: Long): Unit =
    counts.copying(lines)

  override def statementDone(
      script: String,
      statement: Piece.Statement,
      done: Done,
      nanos: Long
  ): Unit = counts.statementDone(statement, done.rows)

  override def failed(error: ScriptException): Unit =
    counts.failed()
    progress.say(errors.lines(Problem.of(error)))

  override def noticed(
      script: String,
      position: Option[Position],
      notice: ServerNotice
  ): Unit =
    if told.getAndIncrement() < RunListener.mostNotices then
      progress.say(errors.lines(Problem.of(script, position, notice)))

  override def stalled(
      script: String,
      position: Option[Position],
      waited: FiniteDuration
  ): Unit =
    val place = position.fold(script)(at => s"$script:$at")
    progress.say(
      Seq(
        s"$place: no answer from the server for ${waited.toSeconds} s; it may be at work, or gone"
      )
    )

  override def printed(script: String, text: String, isForErrors: Boolean): Unit =
    if isForErrors then progress.say(text.stripSuffix("\n").split("\n", -1).toSeq)
    else
      progress.say(Nil)
      out.print(text)
      out.flush()

  override def connected(place: String): Unit = moved(place)

  override def passedOver(script: String, position: Position, name: String): Unit =
    if passedOver.add((script, name)) then
      progress.say(
        Seq(s"$script:$position: \\$name only displays, and is passed over (once a script told)")
      )

  /** Returns the number of notices that were not printed. */
  def noticesLeftOut: Long = (told.get - RunListener.mostNotices).max(0)

object RunListener:
  /** The number of notices that are printed: more are of no use. */
  private val mostNotices = 100
