package weir.bench.child.scale

import java.time.Duration as JavaDuration
import scala.concurrent.duration.*

import weir.lab.scale.{ScalePlan, ScaleRow}
import weir.lab.{ChildOutput, Experiment, Harness}

/** Measures the operations a second of a system with a given number of carriers.
  *
  * The rows take turns in the warm-up: the JVM compiles in the background, which takes seconds on
  * one processor, so a row goes on getting faster while the others run.
  *
  * Options: [[ScalePlan]].
  */
object Scale extends Experiment:
  def run(system: String, options: Experiment.Options, out: ChildOutput): Unit =
    val carriers = options.int("carriers")
    checkFlags(carriers)
    val time = Harness(
      options.int("warm").millis,
      options.int("round").millis,
      options.int("rounds")
    )
    val ids = options.text("row").split(',').toVector
    val (on, work) = (ScaleSystem.of(system, carriers), Work.calibrated())
    measure(
      ids.map(id => MeasuredRow(ScaleRow.of(id), system, on, carriers, work, out)),
      time,
      limit = (time.warmUp + time.round * time.rounds) * 3 + 10.seconds
    )

  /** Warms up and measures each row. If a part of that does not end within `limit`, nothing else is
    * begun: its fibers would disturb what comes after it.
    */
  private[scale] def measure(
      rows: Vector[MeasuredRow],
      time: Harness,
      limit: FiniteDuration
  ): Unit =
    val warmUps =
      for _ <- Vector.range(0, warmUpTurns); row <- rows
      yield row -> (() => row.warmUp(time.warmUp / warmUpTurns))
    val parts = warmUps ++ rows.map(row => row -> (() => row.measure(time)))
    for (endless, _) <- parts.find((_, part) => !endsWithin(limit)(part())) do
      endless.fail(s"it did not end within ${limit.toMillis} ms")
      for row <- rows if !row.isReported do
        row.fail(s"${ScalePlan.notBegun}, as ${endless.row.id} did not end")

  /** Runs `part` on a thread of its own, which it leaves if it takes longer. */
  private def endsWithin(limit: FiniteDuration)(part: => Unit): Boolean =
    Thread.ofPlatform().daemon().start(() => part).join(JavaDuration.ofNanos(limit.toNanos))

  private val warmUpTurns = 3

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
