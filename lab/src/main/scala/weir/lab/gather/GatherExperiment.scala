package weir.lab.gather

import scala.collection.mutable
import scala.concurrent.duration.*
import scala.util.control.NonFatal

import weir.lab.{ChildOutput, Experiment, Harness}
import weir.program.Result

/** Measures some forms of one system in this JVM.
  *
  * The forms take turns, in the warm-up too: the JVM compiles in the background, so a form goes on
  * getting faster while the others run.
  *
  * Options: `forms=LABEL,LABEL`, `size`, `warmUpMillis`, `roundMillis`, `rounds`.
  */
final class GatherExperiment(systems: Seq[TaskSystem]) extends Experiment:
  def run(system: String, options: Experiment.Options, out: ChildOutput): Unit =
    val chosen = systems
      .find(_.name == system)
      .getOrElse(throw IllegalArgumentException(s"gather does not know the system '$system'"))
    val size = options.int("size")
    val forms = options.text("forms").split(',').toVector.map(Form.of)
    var sound = forms.flatMap: form =>
      val name = form.caseOf(size)
      def failed(error: Throwable) = out.failed(name, system, error.toString)
      chosen.run(form, size) match
        case Some(run) => Some(Measured(name, CheckedRuns(expected = size, run), failed))
        case None =>
          failed(IllegalArgumentException(s"$system has no ${form.label}"))
          None
    def turn(time: FiniteDuration): Unit = sound = sound.filter(_.turn(time))
    val warmUp = options.int("warmUpMillis").millis / GatherExperiment.warmUpTurns
    for _ <- 1 to GatherExperiment.warmUpTurns do turn(warmUp)
    sound.foreach(_.rates.clear())
    for _ <- 1 to options.int("rounds") do turn(options.int("roundMillis").millis)
    for form <- sound do
      out.result(Result.opsPerSecond(form.name, system, Harness.median(form.rates.toSeq)))

  private final class Measured(val name: String, runs: CheckedRuns, failed: Throwable => Unit):
    val rates = mutable.Buffer.empty[Double]

    /** Returns true if it went well. */
    def turn(time: FiniteDuration): Boolean =
      try
        rates += runs.rate(time)
        true
      catch
        case NonFatal(error) =>
          failed(error)
          false

object GatherExperiment:
  private val warmUpTurns = 3
