package weir.bench.child.scale

import java.time.Duration as JavaDuration
import scala.concurrent.duration.*

import weir.lab.scale.{ScalePlan, ScaleRow}
import weir.lab.{ChildOutput, Experiment, Harness}

/** How many operations a second does a system make with so many carriers?
  *
  * Options: [[ScalePlan]].
  */
object Scale extends Experiment:
  def run(system: String, options: Experiment.Options, out: ChildOutput): Unit =
    val carriers = options.int("carriers")
    checkFlags(carriers)
    val rows = options.text("row").split(',').toVector.map(ScaleRow.of)
    val time = Harness(
      options.int("warm").millis,
      options.int("round").millis,
      options.int("rounds")
    )
    val rowReport = RowReport(system, carriers, Work.calibrated(), time, out)
    val systemRun = ScaleSystem.of(system, carriers)
    measureEach(rows, limitOf(time))(rowReport.measure(systemRun, _)): (row, why) =>
      rowReport.failed(row, why)

  /** A row that takes longer is given up: its fibers would disturb the rows after it. */
  private def limitOf(time: Harness): FiniteDuration =
    (time.warmUp + time.round * time.rounds) * 3 + 10.seconds

  /** Measures each row on a thread of its own. After a row that does not end, no other is begun. */
  private[scale] def measureEach(rows: Vector[ScaleRow], limit: FiniteDuration)(
      measure: ScaleRow => Unit
  )(failed: (ScaleRow, String) => Unit): Unit =
    val left = rows.dropWhile: row =>
      val thread = Thread.ofPlatform().daemon().start(() => measure(row))
      thread.join(JavaDuration.ofNanos(limit.toNanos))
    for endless <- left.headOption do
      failed(endless, s"it did not end within ${limit.toMillis} ms")
      for row <- left.tail do failed(row, s"it is not begun, as ${endless.id} did not end")

  /** **Fails** if this JVM was started without [[ScalePlan.flags]]: there is no other way to tell
    * the JDK how many carriers to have.
    */
  private def checkFlags(carriers: Int): Unit =
    val threads = Integer.getInteger("jdk.virtualThreadScheduler.parallelism", 0).intValue
    val processors = Runtime.getRuntime.availableProcessors
    if threads != carriers || processors != carriers then
      throw IllegalStateException(
        s"this JVM has $threads carriers and $processors processors, and carriers=$carriers. " +
          s"Start it with ${ScalePlan.flags(carriers).mkString(" ")}"
      )
