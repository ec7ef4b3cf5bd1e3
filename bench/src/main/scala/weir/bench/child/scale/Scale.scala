package weir.bench.child.scale

import scala.concurrent.duration.*
import scala.util.control.NonFatal

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
    val part = Part(system, ScaleSystem.of(system, carriers), carriers, time, out)
    rows.foreach(part.measure)

  private final class Part(
      name: String,
      system: ScaleSystem,
      carriers: Int,
      time: Harness,
      out: ChildOutput
  ):
    private val counters = Counters.of(name)
    private val work = Work.calibrated()

    /** Reports what it has measured, or that it failed. */
    def measure(row: ScaleRow): Unit =
      try
        val load = Load(row, carriers, work)
        val run = system
          .run(load)
          .getOrElse(throw IllegalArgumentException(s"$name has no row '${row.id}'"))
        val runs = TimedRuns(load, run)
        val _ = runs.rate(time.warmUp)
        val before = counters.read()
        val earlier = runs.operations
        val rates = Vector.fill(time.rounds)(runs.rate(time.round))
        val counts = Counters.growth(before, counters.read(), runs.operations - earlier)
        out.result(ScalePlan.speed(row, carriers, name, Harness.median(rates)))
        for (count, value) <- counts do
          out.result(ScalePlan.counted(row, carriers, name, count, value))
      catch
        case NonFatal(error) => out.failed(ScalePlan.caseOf(row, carriers), name, error.toString)

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
