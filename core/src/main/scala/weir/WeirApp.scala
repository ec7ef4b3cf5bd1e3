package weir

import scala.concurrent.duration.{DurationInt, FiniteDuration}
import weir.app.MainProcess

/** A program whose `main` runs one task.
  *
  * {{{
  * object Main extends WeirApp:
  *   def run(args: List[String]): Task[Unit] = Task(println("Hello"))
  * }}}
  *
  * The process ends when the task has ended. It does not wait for other fibers or threads, and runs
  * none of their finalizers. Its exit code is the task's `ExitCode`, or 0 if the task has another
  * value. The exit code is 1 if the task has cancelled itself, or if it has failed, in which case
  * the error is printed with its trace.
  *
  * **Ctrl-C**, SIGTERM and SIGHUP cancel the task. Its finalizers have `shutdownDeadline` to run.
  * After that, the process prints the code that blocks, and ends. The exit code is 130, 143 or 129
  * if the task then ends as cancelled, and as above if it ends with a value or an error. A second
  * signal ends the process at once.
  *
  * **System.exit**, wherever it is called, cancels the task too, and the process ends with the exit
  * code that it was called with. It never returns, so the fiber that calls it runs no finalizers:
  * end the task with an `ExitCode` instead.
  */
trait WeirApp:

  /** The task of this program. It returns an exit code, or no result. */
  def run(args: List[String]): Task[ExitCode | Unit]

  /** The runtime that the task runs on. */
  protected def runtime: WeirRuntime = WeirRuntime.default

  /** The time that finalizers may take once the process has been asked to end. The JVM's shutdown
    * hooks, which run after them, have the same time.
    */
  protected def shutdownDeadline: FiniteDuration = 10.seconds

  final def main(args: Array[String]): Unit =
    MainProcess(Task.defer(run(args.toList)), runtime, shutdownDeadline).run()
