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
  * The process ends when the task has ended, whatever else still runs: other fibers and threads are not waited for, nor are
  * their finalizers run. Its exit code is 0 for a value that is none, 1 for an error, which is printed with its trace, and for a
  * task that has cancelled itself.
  *
  * '''Ctrl-C''', SIGTERM and SIGHUP cancel the task. Its finalizers have `shutdownDeadline` to run; after that what blocks is
  * printed, and the process ends all the same. The exit code is 130, 143 or 129, but the
  * task's own where it ends with one all the same. A second signal ends it at once.
  *
  * '''System.exit''', wherever it is called, cancels the task too, and the process ends with that exit code. It never
  * returns, so the fiber that calls it runs no finalizers: end the task with an `ExitCode` instead.
  */
trait WeirApp:

  /** What this program does: a task of an exit code, or of nothing. */
  def run(args: List[String]): Task[ExitCode | Unit]

  /** What it runs on. */
  protected def runtime: Runtime = Runtime.default

  /** How long finalizers may take once the process has been asked to end; the JVM's shutdown hooks, which run after them,
    * have as long again.
    */
  protected def shutdownDeadline: FiniteDuration = 10.seconds

  final def main(args: Array[String]): Unit =
    MainProcess(Task.defer(run(args.toList)), runtime, shutdownDeadline).run()
