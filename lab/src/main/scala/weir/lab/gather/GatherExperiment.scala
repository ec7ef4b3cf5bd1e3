package weir.lab.gather

import scala.concurrent.duration.*
import scala.util.control.NonFatal

import weir.lab.{ChildOutput, Experiment, Harness, Result}

/** Measures some forms of one system in this JVM, one after the other.
  *
  * Options: `forms=LABEL,LABEL`, `size`, `warmUpMillis`, `roundMillis`, `rounds`.
  */
final class GatherExperiment(systems: Seq[TaskSystem]) extends Experiment:
  def run(system: String, options: Experiment.Options, out: ChildOutput): Unit =
    val chosen = systems
      .find(_.name == system)
      .getOrElse(throw IllegalArgumentException(s"gather does not know the system '$system'"))
    val size = options.int("size")
    for form <- options.text("forms").split(',').map(Form.of) do
      val name = form.caseOf(size)
      try out.result(Result.opsPerSecond(name, system, measure(chosen, form, size, options)))
      catch case NonFatal(error) => out.failed(name, system, error.toString)

  private def measure(
      system: TaskSystem,
      form: Form,
      size: Int,
      options: Experiment.Options
  ): Double =
    val run = system
      .run(form, size)
      .getOrElse(throw IllegalArgumentException(s"${system.name} has no ${form.label}"))
    val runs = CheckedRuns(expected = size, run)
    val _ = runs.rate(options.int("warmUpMillis").millis)
    Harness.median(Seq.fill(options.int("rounds"))(runs.rate(options.int("roundMillis").millis)))
