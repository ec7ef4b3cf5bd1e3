package weir.feeds.report

import java.io.PrintWriter
import scala.concurrent.duration.*

import weir.feeds.run.{Bound, FeedCounts}
import weir.program.{DurationText, Text}

/** The summary of a run.
  *
  * @param bound
  *   none if the servers' times are only known by the clock, since then it would prove nothing
  */
final case class Summary(counts: FeedCounts.Snapshot, taken: FiniteDuration, bound: Option[Bound]):
  def print(out: PrintWriter): Unit =
    import counts.*
    OutcomeTable.lines(counts).foreach(out.println)
    out.println()
    val items = s"${Text.grouped(total.found)} found, ${Text.grouped(total.fresh)} new"
    line(out, "items", s"$items$changes")
    if elsewhere > 0 then
      line(out, "elsewhere", s"${Text.count(elsewhere, "feed")} checked by other processes")
    if held > 0 then
      line(out, "held", s"${Text.count(held, "feed")} due, when their hosts may be asked again")
    if work.retries > 0 then line(out, "tried again", s"${Text.count(work.retries, "time")}")
    line(out, "time taken", DurationText.show(taken))
    bound.foreach: bound =>
      line(
        out,
        "bound",
        s"${DurationText.show(bound.time)}: the longest chain of tries is " +
          s"${DurationText.show(bound.longestChain)},"
      )
      line(
        out,
        "",
        s"all answers are ${DurationText.show(bound.service)} / ${bound.places} = " +
          DurationText.show(bound.perPlace)
      )
      line(out, "taken / bound", Text.decimal(bound.ratio(taken), 2))
    line(
      out,
      "one by one",
      s"${DurationText.show(work.oneByOne)}, ${Text.decimal(speedUp, 1)} times as long"
    )

  /** Returns the run in a line. */
  def line: String =
    import counts.*
    val heldBack = if held == 0 then "" else s"${Text.grouped(held)} held, "
    s"${Text.grouped(fetched)} fetched, ${Text.grouped(failed)} failed, $heldBack" +
      s"${Text.count(total.fresh, "new item")}$changes in ${DurationText.show(taken)}"

  private def changes: String =
    if counts.changed == 0 then "" else s", ${Text.grouped(counts.changed)} changed"

  /** Returns how many times longer the same tries and pauses take one after the other. */
  def speedUp: Double = counts.work.oneByOne / (taken max 1.milli)

  private def line(out: PrintWriter, name: String, text: String): Unit =
    out.println(name.padTo(15, ' ') + text)
