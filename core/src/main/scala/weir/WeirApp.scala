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
  * The process ends when the task has ended. It waits for no other fiber or thread, and runs none
  * of their finalizers. Its exit code is the task's `ExitCode`, 0 if the task has another value,
  * and 1 if it has failed, with an error that is printed with its trace, or has cancelled itself.
  *
  * **Ctrl-C**, SIGTERM and SIGHUP cancel the task. Its finalizers have `shutdownDeadline` to run;
  * after that, what blocks is printed, and the process ends. The exit code is 130, 143 or 129,
  * unless the task ends with one of its own. A second signal ends the process at once.
  *
  * **System.exit**, wherever it is called, cancels the task too, and the process ends with that
  * exit code. It never returns, so the fiber that calls it runs no finalizers: end the task with an
  * `ExitCode` instead.
  */
trait WeirApp:

  /** What this program does: a task with an exit code, or with no result. */
  def run(args: List[String]): Task[ExitCode | Unit]

  /** What the task runs on. */
  protected def runtime: Runtime = Runtime.default

  /** How long finalizers may take once the process has been asked to end. The JVM's shutdown hooks,
    * which run after them, have as long again.
    */
  protected def shutdownDeadline: FiniteDuration = 10.seconds

  final def main(args: Array[String]): Unit =
    MainProcess(Task.defer(run(args.toList)), runtime, shutdownDeadline).run()
