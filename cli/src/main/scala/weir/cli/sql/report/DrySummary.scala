package weir.cli.sql.report

import java.io.PrintWriter
import scala.concurrent.duration.*

import weir.cli.sql.run.Counted
import weir.program.{ByteSize, DurationText, Text}

/** The summary of scripts that were split and not applied. */
final case class DrySummary(counted: Counted, taken: FiniteDuration):
  def print(out: PrintWriter): Unit =
    import counted.*
    val copied =
      if copies == 0 then ""
      else
        s", ${Text.count(copies, "COPY")} with ${Text.count(rows, "row")} in " +
          s"${ByteSize.show(dataBytes)}"
    val rate = (sizeBytes / (taken.max(1.micro).toNanos / 1e9)).toLong
    out.println(s"${Text.count(statements, "statement")}$copied")
    out.println(
      s"${ByteSize.show(sizeBytes)} read and split in ${DurationText.show(taken)}, " +
        s"${ByteSize.show(rate)}/s; nothing was sent"
    )
    val kinds = kindCounts
    if kinds.nonEmpty then
      out.println()
      val width = kinds.map((_, count) => Text.grouped(count).length).max
      for (kind, count) <- kinds do
        val number = Text.grouped(count)
        out.println(s"  ${" " * (width - number.length)}$number  $kind")
