package weir.console

import java.time.{Instant, ZoneId}
import java.time.format.DateTimeFormatter

/** Formats what the console shows as plain text, for a terminal. */
private[console] object Top:
  private inline val groupsShown = 15
  private inline val rowsShown = 30
  private val time = DateTimeFormatter.ofPattern("HH:mm:ss")

  def apply(sample: Sample, fibers: Fibers): String =
    List(runtime(sample), warnings(sample), groups(fibers), streams(sample), things(sample))
      .filter(_.nonEmpty)
      .map(_.mkString("\n"))
      .mkString("\n\n")
      .map(char => if char.isControl && char != '\n' then '?' else char) // of odd names

  private def runtime(sample: Sample): List[String] =
    val at = Instant.ofEpochMilli(sample.millis).atZone(ZoneId.systemDefault)
    val figures = Series.all.zip(sample.series).map { (series, value) =>
      s"${series.label}: ${number(value)}${if series.unit.isEmpty then "" else s" ${series.unit}"}"
    }
    s"weir at ${time.format(at)}" :: figures.grouped(3).map(columns(34)).toList

  private def columns(width: Int)(cells: Iterable[String]): String =
    cells.map(_.padTo(width, ' ')).mkString(" ").stripTrailing

  private def warnings(sample: Sample): List[String] =
    sample.warnings.toList.flatMap { w =>
      s"! ${w.title}. ${w.text}" :: w.fibers.toList.map(one => s"    ${one.name}  ${one.line}")
    }

  private def groups(fibers: Fibers): List[String] =
    val shown = fibers.groups.take(groupsShown).map { group =>
      val states = group.states.map((state, count) => s"$count ${state.toString.toLowerCase}")
      val oldest = if group.oldestNanos < 0 then "" else seconds(group.oldestNanos)
      s"${group.count.toString.reverse.padTo(8, ' ').reverse}  ${oldest.padTo(9, ' ')} " +
        s"${group.title}  (${states.mkString(", ")}; ${group.awaits})"
    }
    val left = fibers.groups.size - shown.size
    s"${fibers.size} fibers, by line" ::
      shown.toList ++ Option.when(left > 0)(s"          and $left more lines")

  private def streams(sample: Sample): List[String] =
    sample.streams.toList.flatMap { stream =>
      s"stream ${stream.name}" :: stream.stretches.map { s =>
        val mark = if stream.bottleneck.contains(s.name) then " *" else ""
        val queue = s.queued.fold("")(size => s", queue ${number(size)}")
        s"  ${(s.name + mark).padTo(24, ' ')} ${number(s.perSecond)}/s, busy ${percent(s.busy)}, " +
          s"waits for input ${percent(s.forInput)}, for room ${percent(s.forRoom)}$queue"
      }.toList
    }

  private def things(sample: Sample): List[String] =
    sample.things.toList.take(rowsShown).map { (thing, _) =>
      val figures = thing.figures.map { f =>
        val rate = f.perSecond.fold("")(rate => s" (${number(rate)}/s)")
        s"${f.label} ${number(f.value)}$rate"
      }
      val line = thing.namedAt.fold("")(line => s"  ($line)")
      s"${s"${thing.kind} ${thing.name}".padTo(26, ' ')} ${figures.mkString(", ")}$line"
    }

  private def seconds(nanos: Long): String = s"${number(nanos / 1e9)} s"

  private def percent(share: Double): String = s"${math.round(share * 100)} %"

  private def number(value: Double): String =
    if value.isWhole then value.toLong.toString else f"$value%.1f"
