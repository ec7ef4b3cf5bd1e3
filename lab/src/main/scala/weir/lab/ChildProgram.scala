package weir.lab

import java.io.PrintStream

import weir.program.Attached

/** A measuring JVM's program: `EXPERIMENT SYSTEM key=value...` runs one experiment on one system.
  *
  * It ends when the program that started it does: [[Attached]].
  */
final class ChildProgram(experiments: Map[String, Experiment]):
  def main(args: Array[String]): Unit =
    Attached.attach()
    // The runtimes of some systems keep threads that would keep the JVM alive.
    Runtime.getRuntime.halt(run(args.toSeq, System.out))

  /** Returns the exit code: 0, or 1 after a message that says why there is no result. */
  private[lab] def run(args: Seq[String], stdout: PrintStream): Int =
    val out = ChildOutput(stdout)
    val experiment = args.headOption.getOrElse("")
    val system = args.lift(1).getOrElse("")
    try
      val chosen = experiments.getOrElse(
        experiment,
        throw IllegalArgumentException(
          s"there is no experiment '$experiment', only " +
            s"${experiments.keys.toSeq.sorted.mkString(", ")}"
        )
      )
      chosen.run(system, ChildProgram.options(args.drop(2)), out)
      0
    catch
      case error: Throwable =>
        error.printStackTrace()
        out.failed(experiment, system, ChildProgram.oneLine(error))
        1

object ChildProgram:
  private[lab] def options(args: Seq[String]): Experiment.Options =
    Experiment.Options(
      args
        .map(_.split("=", 2))
        .map:
          case Array(key, value) => key -> value
          case other => throw IllegalArgumentException(s"'${other.mkString}' is not key=value")
        .toMap
    )

  private def oneLine(error: Throwable): String = error.toString.linesIterator.mkString(" ")
