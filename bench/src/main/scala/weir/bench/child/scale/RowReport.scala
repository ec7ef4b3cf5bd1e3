package weir.bench.child.scale

import weir.lab.scale.{ScalePlan, ScaleRow}
import weir.lab.{ChildOutput, Harness}

/** Measures a row of one system, and reports the result or the failure. */
private[scale] final class RowReport(
    name: String,
    carriers: Int,
    work: Work,
    time: Harness,
    out: ChildOutput
):
  private val counters = Counters.of(name)

  def measure(system: ScaleSystem, row: ScaleRow): Unit =
    try
      val load = Load(row, carriers, work)
      val run = system
        .run(load)
        .getOrElse(throw IllegalArgumentException(s"$name has no row '${row.id}'"))
      report(row, TimedRuns(load, run))
    catch case error: Throwable => failed(row, error.toString)

  def failed(row: ScaleRow, why: String): Unit =
    out.failed(ScalePlan.caseOf(row, carriers), name, why)

  /** The counts are those of the rounds, without the warm-up. */
  private def report(row: ScaleRow, runs: TimedRuns): Unit =
    val _ = runs.rate(time.warmUp)
    val before = counters.read()
    val earlier = runs.operations
    val rates = Vector.fill(time.rounds)(runs.rate(time.round))
    val counts = Counters.growth(before, counters.read(), runs.operations - earlier)
    out.result(ScalePlan.speed(row, carriers, name, Harness.median(rates)))
    for (count, value) <- counts do out.result(ScalePlan.counted(row, carriers, name, count, value))
