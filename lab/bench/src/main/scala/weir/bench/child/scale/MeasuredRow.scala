package weir.bench.child.scale

import scala.concurrent.duration.*

import weir.lab.scale.{ScalePlan, ScaleRow}
import weir.lab.{ChildOutput, Harness}

/** Measures a row of one system, and reports once: its speed and its counts, or why it failed. */
private[scale] final class MeasuredRow(
    val row: ScaleRow,
    name: String,
    system: ScaleSystem,
    carriers: Int,
    work: Work,
    out: ChildOutput
):
  private val load = Load(row, carriers, work)
  private lazy val runs = TimedRuns(
    load,
    system.run(load).getOrElse(throw IllegalArgumentException(s"$name has no row '${row.id}'"))
  )
  private val counters = Counters.of(name)
  private var reported = false

  /** Returns true if its speed or its failure has been reported. */
  def isReported: Boolean = reported

  /** Runs it for about `time`. Not if most of that would be spent in waiting. */
  def warmUp(time: FiniteDuration): Unit =
    if load.idle == Duration.Zero then unlessFailed(runs.rate(time): Unit)

  /** Runs it once, and then in rounds. The counts are those of the rounds. */
  def measure(time: Harness): Unit = unlessFailed:
    val _ = runs.rate(Duration.Zero)
    val before = counters.read()
    val earlier = runs.operations
    val rates = Vector.fill(time.rounds)(runs.rate(time.round))
    val counts = Counters.growth(before, counters.read(), runs.operations - earlier)
    out.result(ScalePlan.speed(row, carriers, name, Harness.median(rates)))
    for (count, value) <- counts do out.result(ScalePlan.counted(row, carriers, name, count, value))
    reported = true

  def fail(why: String): Unit =
    reported = true
    out.failed(ScalePlan.caseOf(row, carriers), name, why)

  private def unlessFailed(body: => Unit): Unit =
    if !reported then
      try body
      catch case error: Throwable => fail(error.toString)
