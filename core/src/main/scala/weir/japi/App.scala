package weir.japi

import java.time.Duration
import java.util.function.Supplier
import weir.app.MainProcess
import weir.{ExitCode, Task as ScalaTask, WeirRuntime}

/** Runs the task of a program, and ends the process in order.
  *
  * {{{
  * public static void main(String[] args) {
  *   App.run(() -> server.useTask(s -> Task.never()));
  * }
  * }}}
  *
  * Ctrl-C, SIGTERM and SIGHUP cancel the task, so that its resources are released. A second signal
  * ends the process at once. The process ends when the task has ended: with the code of its
  * `weir.ExitCode`, with 0 if it has another value, with 1 and the trace of the error if it has
  * failed. After a signal the code is 130, 143 or 129.
  */
object App:
  private val usualDeadline = Duration.ofSeconds(10)

  /** Calls `program`, runs the task that it returns, and ends the process. After a signal, its
    * finalizers have 10 seconds to run.
    */
  def run(program: Supplier[? <: Task[?]]): Unit = run(usualDeadline, program)

  /** As `run`, with `shutdownDeadline` in place of 10 seconds: after that the process prints the
    * code that still runs, and ends.
    */
  def run(shutdownDeadline: Duration, program: Supplier[? <: Task[?]]): Unit =
    val task = ScalaTask.defer(program.get().asScala).map {
      case code: ExitCode => code
      case _ => ()
    }
    MainProcess(task, WeirRuntime.default, Durations.of(shutdownDeadline)).run()
