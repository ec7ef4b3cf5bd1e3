package weir.cli.feeds.report

import java.io.PrintWriter
import scala.concurrent.duration.*

import me.tongfei.progressbar.{ProgressBar, ProgressBarBuilder}

import weir.Task
import weir.cli.{DurationText, ErrorTerminal, Text}
import weir.cli.feeds.run.Tally

/** Shows how a run gets on, for as long as it runs. */
trait Progress:
  /** How often `show` wants to be called. */
  def every: FiniteDuration

  def show(tally: Tally.Snapshot, elapsed: FiniteDuration): Unit

  /** Leaves the terminal as it was. */
  def close(): Unit

object Progress:
  /** Shows nothing. */
  val none: Progress = new Progress:
    val every: FiniteDuration = 1.hour
    def show(tally: Tally.Snapshot, elapsed: FiniteDuration): Unit = ()
    def close(): Unit = ()

  /** A bar on a terminal, and plain lines elsewhere. */
  def on(err: PrintWriter, due: Long): Progress =
    if ErrorTerminal.isThere then Bar(due) else Lines(err)

  /** The result of `run`, with `tally` shown meanwhile.
    *
    * **Cancelled**: also cancels the display.
    */
  def during[A](progress: Progress, tally: Tally, run: Task[A]): Task[A] =
    Task.defer:
      val start = System.nanoTime()
      val show = Task.delay(progress.show(tally.snapshot(), since(start)))
      Task
        .sleep(progress.every)
        .flatMap(_ => show)
        .forever
        .start
        .flatMap(display => run.guarantee(display.cancel))
        .guarantee(show.guarantee(Task.delay(progress.close())))

  private def since(startNanos: Long): FiniteDuration =
    ((System.nanoTime() - startNanos) / 1_000_000).millis

  /** The remaining time, if the rest is as fast as the part that is done; none before the first
    * feed.
    */
  private def timeLeft(tally: Tally.Snapshot, elapsed: FiniteDuration): Option[FiniteDuration] =
    Option.when(tally.doneShare > 0.02):
      (elapsed.toMillis * (1 - tally.doneShare) / tally.doneShare).toLong.max(0).millis

  private def itemsASecond(tally: Tally.Snapshot, elapsed: FiniteDuration): Long =
    tally.total.found * 1000 / elapsed.toMillis.max(1)

  /** All of it in words: both displays say the same. */
  private def words(tally: Tally.Snapshot, elapsed: FiniteDuration): String =
    import tally.*
    val rate = Text.grouped(itemsASecond(tally, elapsed))
    val left = timeLeft(tally, elapsed).fold("")(time => s", ${seconds(time)} left")
    val heldBack = if held == 0 then "" else s", ${Text.grouped(held)} held"
    s"${Text.grouped(fetched)} fetched, $inFlight in flight, ${Text.grouped(failed)} failed" +
      s"$heldBack, $rate items/s$left"

  /** An estimate is not known to the millisecond. */
  private def seconds(time: FiniteDuration): String =
    if time < 100.seconds then s"${(time.toMillis + 999) / 1000} s" else DurationText.show(time)

  private final class Lines(err: PrintWriter) extends Progress:
    val every: FiniteDuration = 2.seconds

    def show(tally: Tally.Snapshot, elapsed: FiniteDuration): Unit =
      err.println(s"${Text.count(tally.due, "feed")}: ${words(tally, elapsed)}")

    def close(): Unit = ()

  /** The library decides when to draw; the line is laid out here, since the library's own layout
    * has no room for all that at 80 columns.
    */
  private final class Bar(due: Long) extends Progress:
    val every: FiniteDuration = 200.millis

    private val bar: ProgressBar = ProgressBarBuilder()
      .setInitialMax(due)
      .setConsumer(ErrorTerminal(System.err))
      .setUpdateIntervalMillis(every.toMillis.toInt)
      .setRenderer((state, width) => draw(state.getCurrent, state.getExtraMessage, width))
      .build()

    def show(tally: Tally.Snapshot, elapsed: FiniteDuration): Unit =
      bar.setExtraMessage(words(tally, elapsed))
      val _ = bar.stepTo(tally.done + tally.held)

    def close(): Unit = bar.close()

    private def draw(done: Long, words: String, width: Int): String =
      val room = width - words.length - 4
      if room < 4 then words.take(width)
      else
        val filled = (room * done / due.max(1)).toInt
        s"[${"=" * filled}${" " * (room - filled)}] $words"
