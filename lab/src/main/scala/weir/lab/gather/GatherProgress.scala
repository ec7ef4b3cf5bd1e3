package weir.lab.gather

import java.io.PrintWriter
import scala.concurrent.duration.*

import me.tongfei.progressbar.{ProgressBar, ProgressBarBuilder}

import weir.program.{ErrorTerminal, Result, ResultTable}

/** Shows how far the measuring is. */
trait GatherProgress:
  def begin(step: GatherPlan.Step): Unit

  /** @param otherLines
    *   the other lines that the JVM has printed
    */
  def end(step: GatherPlan.Step, results: Seq[Result], otherLines: Seq[String]): Unit

  /** Leaves the terminal as it was. */
  def close(): Unit

object GatherProgress:
  /** A bar on a terminal, and plain lines elsewhere. */
  def on(err: PrintWriter, plan: GatherPlan): GatherProgress =
    if ErrorTerminal.isThere then Bar(plan) else Lines(err, plan)

  /** A line for each JVM that has ended. */
  private[gather] final class Lines(err: PrintWriter, plan: GatherPlan) extends GatherProgress:
    private var ended = 0

    def begin(step: GatherPlan.Step): Unit = ()

    def end(step: GatherPlan.Step, results: Seq[Result], otherLines: Seq[String]): Unit =
      otherLines.foreach(err.println)
      ended += 1
      val figures = results.map(r => s"${r.name} ${ResultTable.number(r.value)}").mkString(", ")
      err.println(s"$ended of ${plan.steps.size}: ${step.system}: $figures")

    def close(): Unit = ()

  /** The bar counts time, since the JVMs do not take equally long. */
  private final class Bar(plan: GatherPlan) extends GatherProgress:
    private val terminal = ErrorTerminal(System.err)
    private var done = Duration.Zero: FiniteDuration
    private val bar: ProgressBar = ProgressBarBuilder()
      .setInitialMax(plan.expected.toMillis)
      .setConsumer(terminal)
      .setUpdateIntervalMillis(200)
      .continuousUpdate()
      .setRenderer((state, width) => draw(state.getCurrent, state.getExtraMessage, width))
      .build()

    def begin(step: GatherPlan.Step): Unit =
      val _ = bar.setExtraMessage(s"${step.label}, ${step.system}; ${left()}")

    def end(step: GatherPlan.Step, results: Seq[Result], otherLines: Seq[String]): Unit =
      done += step.expected
      val _ = bar.stepTo(done.toMillis)
      if otherLines.nonEmpty then
        terminal.clear()
        otherLines.foreach(System.err.println)

    def close(): Unit =
      bar.setExtraMessage("done")
      bar.close()

    private def left(): String =
      val seconds = (plan.expected - done).toSeconds
      if seconds < 100 then s"$seconds s left" else s"${(seconds + 30) / 60} min left"

    private def draw(doneMillis: Long, words: String, width: Int): String =
      val text = words.take(width)
      val room = width - text.length - 4
      if room < 4 then text
      else
        val filled = (room * doneMillis / plan.expected.toMillis.max(1)).toInt.min(room)
        s"[${"=" * filled}${" " * (room - filled)}] $text"
