package weir.cli.sql.report

import java.io.PrintWriter
import scala.concurrent.duration.*

import me.tongfei.progressbar.{ProgressBar, ProgressBarBuilder}

import weir.Task
import weir.cli.sql.run.ScriptCounts
import weir.program.{ByteSize, ErrorTerminal, ProgressLine, Text}

/** Shows how a run gets on, for as long as it runs. */
trait Progress:
  /** The interval at which to call `show`, and the time after which a run is shown at all. */
  def every: FiniteDuration

  def show(counts: ScriptCounts.Snapshot, elapsed: FiniteDuration): Unit

  /** Prints lines that are to stay. */
  def say(lines: Seq[String]): Unit

  /** Leaves the terminal as it was. */
  def close(): Unit

object Progress:
  /** A bar on a terminal, and plain lines elsewhere. */
  def on(err: PrintWriter, isQuiet: Boolean): Progress =
    if isQuiet then Silence(err)
    else if ErrorTerminal.isThere then Bar(err)
    else Lines(err)

  /** The result of `run`, with `counts` shown meanwhile.
    *
    * **Cancelled**: also cancels the display.
    */
  def during[A](progress: Progress, counts: ScriptCounts, run: Task[A]): Task[A] =
    Task.defer:
      val start = System.nanoTime()
      val show = Task.delay(progress.show(counts.snapshot(), (System.nanoTime() - start).nanos))
      ProgressLine
        .beside(run, progress.every)(show)
        .guarantee(Task.delay(progress.close()))

  /** All of it in words: both displays say the same. */
  private[sql] def words(counts: ScriptCounts.Snapshot, elapsed: FiniteDuration): String =
    import counts.*
    val of = totalBytes.fold("")(total => s" of ${ByteSize.show(total)}")
    val rate = ByteSize.show(readBytes * 1000 / elapsed.toMillis.max(1))
    val left = doneShare.fold("")(ProgressLine.timeLeft(_, 0.005, elapsed))
    val wrong = if errors == 0 then "" else s", ${Text.count(errors, "error")}"
    s"${ByteSize.show(readBytes)}$of, $rate/s$left, ${Text.count(statements, "statement")}, " +
      s"${Text.count(rows + rowsOnTheirWay, "row")}$wrong"

  private final class Silence(err: PrintWriter) extends Progress:
    val every: FiniteDuration = 1.hour
    def show(counts: ScriptCounts.Snapshot, elapsed: FiniteDuration): Unit = ()
    def say(lines: Seq[String]): Unit = lines.foreach(err.println)
    def close(): Unit = ()

  private[report] final class Lines(err: PrintWriter) extends Progress:
    // Such lines stay in the log of a cron job or a container.
    val every: FiniteDuration = 30.seconds
    def show(counts: ScriptCounts.Snapshot, elapsed: FiniteDuration): Unit =
      err.println(words(counts, elapsed))
    def say(lines: Seq[String]): Unit = lines.foreach(err.println)
    def close(): Unit = ()

  /** A bar that is first drawn after half a second.
    *
    * The library decides when to draw; the line is laid out here, since the library's own layout
    * has no room for all that at 80 columns.
    */
  private final class Bar(err: PrintWriter) extends Progress:
    val every: FiniteDuration = 500.millis

    // shared, under the monitor
    private var shown: Option[(ProgressBar, ErrorTerminal)] = None
    private var share: Option[Double] = None

    def show(counts: ScriptCounts.Snapshot, elapsed: FiniteDuration): Unit = synchronized:
      val (bar, _) = shown.getOrElse(begin())
      share = counts.doneShare
      bar.setExtraMessage(words(counts, elapsed))
      val _ = bar.stepTo(counts.readBytes)

    def say(lines: Seq[String]): Unit = synchronized:
      shown.foreach((_, terminal) => terminal.clear())
      lines.foreach(err.println)
      err.flush()

    def close(): Unit = synchronized:
      shown.foreach((bar, _) => bar.close())

    private def begin(): (ProgressBar, ErrorTerminal) =
      val terminal = ErrorTerminal(System.err)
      val bar = ProgressBarBuilder()
        .setInitialMax(-1)
        .setConsumer(terminal)
        .setUpdateIntervalMillis(every.toMillis.toInt)
        .setRenderer((state, width) => draw(state.getExtraMessage, width))
        .build()
      shown = Some((bar, terminal))
      (bar, terminal)

    private def draw(words: String, width: Int): String =
      share.fold(words.take(width))(ProgressLine.bar(_, words, width))
