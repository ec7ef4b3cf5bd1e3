package weir.feeds.report

import weir.program.{Result, Systems}

/** The figures of a run, for reports. */
object SummaryResults:
  def of(summary: Summary): Vector[Result] =
    import summary.counts.*
    val times = Vector(
      figure("time taken", summary.taken.toMillis / 1000.0, "s", "lower"),
      figure("one by one", work.oneByOne.toMillis / 1000.0, "s", "lower"),
      figure("speed-up over one by one", summary.speedUp, "times", "higher")
    )
    val bound = summary.bound.toVector.flatMap: bound =>
      Vector(
        figure("bound", bound.time.toMillis / 1000.0, "s", "lower"),
        figure("time taken over bound", bound.ratio(summary.taken), "times", "lower")
      )
    val items = Vector(
      figure("items found", total.found.toDouble, "items", "higher"),
      figure("items new", total.fresh.toDouble, "items", "higher"),
      figure("checked by other processes", elsewhere.toDouble, "feeds", "higher")
    )
    val outcomes = rows.map: (name, row) =>
      figure(s"outcome: $name", row.feeds.toDouble, "feeds", "higher")
    times ++ bound ++ items ++ outcomes

  private def figure(name: String, value: Double, unit: String, better: String): Result =
    Result(name, Systems.weir, value, unit, better)
