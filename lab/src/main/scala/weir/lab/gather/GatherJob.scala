package weir.lab.gather

import java.io.{PrintWriter, StringWriter}

import weir.lab.Harness
import weir.lab.ChildOutput.Message
import weir.program.{Result, Systems}

/** Runs `weir gather`: one JVM after the other, and collects their figures. */
final class GatherJob(plan: GatherPlan, progress: GatherProgress):
  /** Measures, and returns the figures. Those of a JVM that failed are missing, and a line has said
    * why.
    *
    * **Fails** with [[weir.program.BadInput]] if there is nothing to start JVMs with.
    */
  def run(): GatherJob.Measured =
    try
      val steps = plan.steps.map(step => step -> measure(step))
      GatherJob.Measured(
        GatherJob.medians(steps.flatMap((_, results) => results)),
        isComplete = steps.forall((step, results) => step.forms.size == results.size)
      )
    finally progress.close()

  private def measure(step: GatherPlan.Step): Vector[Result] =
    progress.begin(step)
    val results = Vector.newBuilder[Result]
    // Kept back until the JVM has ended, so that it does not mix with the bar.
    val err = StringWriter()
    val _ = step.jvm.run(PrintWriter(err, true)):
      case Message.Measured(result) => results += result
      case _ => ()
    val measured = results.result()
    progress.end(step, measured, err.toString.linesIterator.toSeq)
    measured

object GatherJob:
  /** @param isComplete
    *   true if every JVM gave every figure that it was started for
    */
  final case class Measured(results: Vector[Result], isComplete: Boolean):
    def table: Vector[String] = GatherTable.lines(results)

  /** One result for each case on each system, in the order of the forms and sizes. */
  private[gather] def medians(results: Seq[Result]): Vector[Result] =
    results
      .groupBy(result => (result.name, result.system))
      .values
      .map(same => same.head.copy(value = Harness.median(same.map(_.value))))
      .toVector
      .sortBy(result => (formOrder(result), sizeOf(result), Systems.order(result.system)))

  private def formOrder(result: Result): Int = Form.of(result.group).ordinal

  private def sizeOf(result: Result): Int = result.name.split(": ").last.toInt
