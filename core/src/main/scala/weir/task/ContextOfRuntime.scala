package weir.task

import scala.concurrent.ExecutionContext
import weir.fiber.Uninterruptible
import weir.{Outcome, WeirRuntime}

/** A runtime as an execution context: each piece of code that it gets runs on a fiber of its own,
  * so it may block.
  */
private[weir] final class ContextOfRuntime(runtime: WeirRuntime) extends ExecutionContext:
  def execute(code: Runnable): Unit =
    val fiber = RunAsync.newFiber(Uninterruptible(() => code.run()), told, runtime)
    runtime.scheduler.submit(fiber)

  private val told: Outcome[Unit] => Unit =
    case Outcome.Failed(error) => reportFailure(error)
    case _ => ()

  def reportFailure(error: Throwable): Unit =
    runtime.report("code that an execution context was given", error)
