package weir.cli.sql.report

import weir.program.{Result, Systems}

/** The figures of a run, for reports. */
object SummaryResults:
  /** @param millisToFirstByte
    *   from the start of the JVM; none if there was no byte
    */
  def of(summary: Summary, millisToFirstByte: Option[Long]): Vector[Result] =
    import summary.counts.*
    val start = millisToFirstByte.map: millis =>
      figure("start to first byte", millis.toDouble, "ms", Result.lower)
    Vector(
      figure("seconds", summary.taken.toNanos / 1e9, "s", Result.lower),
      figure("bytes", scriptBytes.toDouble, "B", Result.higher),
      figure("rate", summary.bytesPerSecond / 1e6, "MB/s", Result.higher),
      figure("statements", statements.toDouble, "statements", Result.higher),
      figure("rows", rows.toDouble, "rows", Result.higher),
      figure("errors", errors.toDouble, "errors", Result.lower)
    ) ++ start

  private def figure(name: String, value: Double, unit: String, better: String): Result =
    Result(name, Systems.weir, value, unit, better)
