package weir.feeds.report

import java.io.PrintWriter
import scala.concurrent.duration.*

import me.tongfei.progressbar.{ProgressBar, ProgressBarBuilder}

import weir.Task
import weir.feeds.run.FeedCounts
import weir.program.{ErrorTerminal, ProgressLine, Text}

/** Shows how a run gets on, for as long as it runs. */
trait Progress:
  /** The interval at which to call `show`. */
  def every: FiniteDuration

  def show(counts: FeedCounts.Snapshot, elapsed: FiniteDuration): Unit

  /** Leaves the terminal as it was. */
  def close(): Unit

object Progress:
  /** Shows nothing. */
  val none: Progress = new Progress:
    val every: FiniteDuration = 1.hour
    def show(counts: FeedCounts.Snapshot, elapsed: FiniteDuration): Unit = ()
    def close(): Unit = ()

  /** A bar on a terminal, and plain lines elsewhere. */
  def on(err: PrintWriter, due: Long): Progress =
    if ErrorTerminal.isThere then Bar(due) else Lines(err)

  /** The result of `run`, with `counts` shown meanwhile.
    *
    * **Cancelled**: also cancels the display.
    */
  def during[A](progress: Progress, counts: FeedCounts, run: Task[A]): Task[A] =
    Task.defer:
      val start = System.nanoTime()
      val show = Task.delay(progress.show(counts.snapshot(), since(start)))
      ProgressLine
        .beside(run, progress.every)(show)
        .guarantee(show.guarantee(Task.delay(progress.close())))

  private def since(startNanos: Long): FiniteDuration =
    ((System.nanoTime() - startNanos) / 1_000_000).millis

  private def itemsASecond(counts: FeedCounts.Snapshot, elapsed: FiniteDuration): Long =
    counts.total.found * 1000 / elapsed.toMillis.max(1)

  /** All of it in words: both displays say the same. */
  private def words(counts: FeedCounts.Snapshot, elapsed: FiniteDuration): String =
    import counts.*
    val rate = Text.grouped(itemsASecond(counts, elapsed))
    val left = ProgressLine.timeLeft(doneShare, 0.02, elapsed)
    val heldBack = if held == 0 then "" else s", ${Text.grouped(held)} held"
    s"${Text.grouped(fetched)} fetched, $inFlight in flight, ${Text.grouped(failed)} failed" +
      s"$heldBack, $rate items/s$left"

  private final class Lines(err: PrintWriter) extends Progress:
    val every: FiniteDuration = 2.seconds

    def show(counts: FeedCounts.Snapshot, elapsed: FiniteDuration): Unit =
      err.println(s"${Text.count(counts.due, "feed")}: ${words(counts, elapsed)}")

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

    def show(counts: FeedCounts.Snapshot, elapsed: FiniteDuration): Unit =
      bar.setExtraMessage(words(counts, elapsed))
      val _ = bar.stepTo(counts.done + counts.held)

    def close(): Unit = bar.close()

    private def draw(done: Long, words: String, width: Int): String =
      ProgressLine.bar(done.toDouble / due.max(1), words, width)
