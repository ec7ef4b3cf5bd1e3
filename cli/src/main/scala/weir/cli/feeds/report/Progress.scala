package weir.cli.feeds.report

import java.io.PrintWriter
import scala.concurrent.duration.*

import me.tongfei.progressbar.{ProgressBar, ProgressBarBuilder, ProgressBarStyle}

import weir.Task
import weir.cli.feeds.input.DurationText
import weir.cli.feeds.run.Tally

/** Shows how a run gets on, for as long as it runs. */
trait Progress:
  /** How often `show` wants to be called. */
  def every: FiniteDuration

  def show(tally: Tally.Snapshot, elapsed: FiniteDuration): Unit

  /** Leaves the terminal as it was. */
  def close(): Unit

object Progress:
  /** A bar on a terminal, and plain lines elsewhere. */
  def on(err: PrintWriter, due: Long): Progress =
    val console = System.console()
    if console != null && console.isTerminal then Bar(due) else Lines(err)

  /** The result of `run`, with `tally` shown meanwhile.
    *
    * '''Cancelled''': also cancels the display.
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
        .guarantee(Task.delay(progress.close()))

  private def since(startNanos: Long): FiniteDuration =
    ((System.nanoTime() - startNanos) / 1_000_000).millis

  /** How much longer it will take, if the rest goes as fast as what is done; none before a start. */
  private def timeLeft(tally: Tally.Snapshot, elapsed: FiniteDuration): Option[FiniteDuration] =
    Option.when(tally.doneShare > 0.02):
      (elapsed.toMillis * (1 - tally.doneShare) / tally.doneShare).toLong.max(0).millis

  private def itemsASecond(tally: Tally.Snapshot, elapsed: FiniteDuration): Long =
    tally.total.found * 1000 / elapsed.toMillis.max(1)

  private final class Lines(err: PrintWriter) extends Progress:
    val every: FiniteDuration = 2.seconds

    def show(tally: Tally.Snapshot, elapsed: FiniteDuration): Unit =
      import tally.*
      val left = timeLeft(tally, elapsed).fold("")(time => s", ${DurationText.show(time)} left")
      err.println(
        s"${Text.grouped(fetched)} of ${Text.count(due, "feed")} fetched, $inFlight in flight, " +
          s"$failed failed, ${Text.grouped(itemsASecond(tally, elapsed))} items/s$left"
      )

    def close(): Unit = ()

  private final class Bar(due: Long) extends Progress:
    val every: FiniteDuration = 200.millis

    private val bar: ProgressBar = ProgressBarBuilder()
      .setTaskName("")
      .setInitialMax(due)
      .setStyle(ProgressBarStyle.ASCII)
      .setUpdateIntervalMillis(every.toMillis.toInt)
      .hideEta()
      .build()

    def show(tally: Tally.Snapshot, elapsed: FiniteDuration): Unit =
      import tally.*
      val left = timeLeft(tally, elapsed).fold("")(time => s" ${DurationText.show(time)} left")
      val rate = Text.grouped(itemsASecond(tally, elapsed))
      bar.setExtraMessage(s"$inFlight in flight $failed failed $rate items/s$left")
      val _ = bar.stepTo(done)

    def close(): Unit = bar.close()
