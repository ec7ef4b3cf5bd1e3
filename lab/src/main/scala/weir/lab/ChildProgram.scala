package weir.lab

import java.io.{InputStream, PrintStream}

/** A measuring JVM's program: `EXPERIMENT SYSTEM key=value...` runs one experiment on one system.
  *
  * The program that started it holds the other end of its standard input and says nothing there; when
  * that end closes, even because it was killed, this JVM ends too.
  */
final class ChildProgram(experiments: Map[String, Experiment]):
  def main(args: Array[String]): Unit =
    endWith(System.in)
    // The runtimes of some systems keep threads that would keep the JVM alive.
    Runtime.getRuntime.halt(run(args.toSeq, System.out))

  /** The exit code: 0, or 1 after a message that says why there is no result. */
  private[lab] def run(args: Seq[String], stdout: PrintStream): Int =
    val out = ChildOutput(stdout)
    val experiment = args.headOption.getOrElse("")
    val system = args.lift(1).getOrElse("")
    try
      val chosen = experiments.getOrElse(
        experiment,
        throw IllegalArgumentException(
          s"there is no experiment '$experiment', only ${experiments.keys.toSeq.sorted.mkString(", ")}"
        )
      )
      chosen.run(system, ChildProgram.options(args.drop(2)), out)
      0
    catch
      case error: Throwable =>
        error.printStackTrace()
        out.failed(experiment, system, ChildProgram.oneLine(error))
        1

  private def endWith(input: InputStream): Unit =
    val _ = Thread
      .ofPlatform()
      .daemon()
      .name("weir-lab-parent")
      .start: () =>
        while input.read() >= 0 do ()
        Runtime.getRuntime.halt(ChildProgram.orphaned)

object ChildProgram:
  /** The exit code of a JVM whose parent is gone: what a hang-up gives. */
  private val orphaned = 129

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
