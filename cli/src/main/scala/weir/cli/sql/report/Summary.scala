package weir.cli.sql.report

import java.io.PrintWriter
import scala.concurrent.duration.*

import weir.cli.sql.run.ScriptCounts
import weir.postgres.ApplySummary
import weir.program.{ByteSize, DurationText, Text}

/** The summary of a run.
  *
  * @param applied
  *   the summary of the library; none if nothing was to be applied
  * @param columns
  *   the width of the screen
  */
final case class Summary(
    counts: ScriptCounts.Snapshot,
    applied: Option[ApplySummary],
    taken: FiniteDuration,
    columns: Int
):
  def print(out: PrintWriter): Unit =
    out.println(line)
    applied.foreach(print(_, out))

  private def print(applied: ApplySummary, out: PrintWriter): Unit =
    import applied.*
    if parallelCopies > 0 then
      out.println(
        s"${Text.grouped(parallelCopies)} of ${Text.count(counts.copies, "COPY")} went over " +
          "several connections at once. That " +
          "is not one transaction: had one failed, a part of its rows might have stayed."
      )
    for (reason, count) <- singleCopies.toVector.sortBy(-_._2) do
      out.println(s"${Text.count(count, "COPY")} went over one connection: $reason")
    if slowest.nonEmpty then
      out.println()
      out.println(
        if slowest.size == 1 then "the slowest statement:"
        else s"the ${slowest.size} slowest statements:"
      )
      val times = slowest.map(timed => DurationText.show(timed.time))
      val places = slowest.map(timed => s"${timed.script}:${timed.position.line}")
      val (timeWidth, placeWidth) = (times.map(_.length).max, places.map(_.length).max)
      for ((timed, time), place) <- slowest.zip(times).zip(places) do
        val begin = s"  ${" " * (timeWidth - time.length)}$time  ${place.padTo(placeWidth, ' ')}  "
        out.println(begin + cut(timed.firstLine, (columns - begin.length - 1).max(30)))

  /** Returns the run in a line. */
  def line: String =
    import counts.*
    val wrong = if errors == 0 then "" else s", ${Text.count(errors, "error")}"
    s"${Text.count(statements, "statement")}, ${Text.count(rows, "row")}$wrong; " +
      s"${ByteSize.show(scriptBytes)} in ${DurationText.show(taken)}, " +
      s"${ByteSize.show(bytesPerSecond)}/s"

  def bytesPerSecond: Long = (counts.scriptBytes / (taken.max(1.micro).toNanos / 1e9)).toLong

  private def cut(text: String, columns: Int): String = Excerpt.of("", text, columns + 1).line
