package weir.program

import java.io.PrintStream
import java.lang.ProcessBuilder.Redirect
import java.util.concurrent.TimeUnit
import scala.util.control.NonFatal

import me.tongfei.progressbar.ProgressBarConsumer

/** One line of the terminal behind standard error, drawn again and again.
  *
  * The library's own consumer opens the terminal with jline, which sets the signals back to their
  * defaults; Ctrl-C would then end the process before it could say what is left.
  */
final class ErrorTerminal(out: PrintStream) extends ProgressBarConsumer:
  private val columns = ErrorTerminal.columns()

  /** A line that reaches the last column may wrap. */
  def getMaxRenderedLength: Int = columns - 1

  def accept(line: String): Unit =
    out.print("\r" + line.padTo(getMaxRenderedLength, ' '))
    out.flush()

  override def clear(): Unit =
    out.print("\r" + " " * getMaxRenderedLength + "\r")
    out.flush()

  def close(): Unit =
    out.println()
    out.flush()

object ErrorTerminal:
  private val usualColumns = 80

  /** Returns true if standard input and output are a terminal, and so, most likely, standard error.
    */
  def isThere: Boolean =
    val console = System.console()
    console != null && console.isTerminal

  /** Returns the width of the terminal, as `stty` says. */
  def columns(): Int =
    try
      val stty = ProcessBuilder("stty", "size").redirectInput(Redirect.INHERIT).start()
      if stty.waitFor(1, TimeUnit.SECONDS) then
        String(stty.getInputStream.readAllBytes())
          .split("\\s+")
          .lift(1)
          .flatMap(_.toIntOption)
          .filter(_ > 0)
          .getOrElse(usualColumns)
      else usualColumns
    catch case NonFatal(_) => usualColumns
