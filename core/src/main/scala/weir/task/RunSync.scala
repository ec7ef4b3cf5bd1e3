package weir.task

import weir.fiber.{Locals, TaskFiber}
import weir.runtime.{CallingThread, ExecutionThread, Job}
import weir.trace.ErrorTrace
import weir.{Outcome, Task, WeirRuntime}

/** Runs a task on the calling thread until it first suspends. Then that thread waits for the end of
  * the task.
  */
private[weir] object RunSync:

  def apply[A](task: Task[A], runtime: WeirRuntime): A =
    runtime.entered()
    val here = ExecutionThread.here
    // first: it may find that there is no stack left
    val caller = CallingThread(runtime.scheduler, here)
    val fiber = TaskFiber(runtime, task)
    def run(): Unit =
      caller.run(fiber)
      if fiber.outcome eq null then
        if caller.hasBeenInterrupted then fiber.requestCancel()
        runtime.scheduler.raiseStandbyForWork(caller.thread) // after a full stack
        fiber.awaitEnd(): Unit
    val outer = if here eq null then null else here.running
    val hook = runtime.hook
    val carried = if hook eq null then null else hook.capture()
    inherit(fiber, outer, carried)
    try
      outer match
        case outer: TaskFiber => outer.nesting(fiber)(run())
        case _ => run()
    finally if hook ne null then hook.install(carried)
    val interrupted = caller.hasBeenInterrupted || Thread.currentThread().isInterrupted
    fiber.outcome.nn match
      case Outcome.Succeeded(value) =>
        if caller.hasBeenInterrupted then Thread.currentThread().interrupt()
        value.asInstanceOf[A]
      case Outcome.Canceled if interrupted || isCancelled(outer) =>
        Thread.interrupted(): Unit
        throw InterruptedException("The thread was interrupted in runSync; its task was cancelled.")
      case other =>
        other match
          case Outcome.Failed(error) =>
            ErrorTrace.addCaller(error, fiber)
            outer match
              case outer: TaskFiber => ErrorTrace.pass(error, outer, from = null)
              case _ => ()
          case _ => ()
        other.get.asInstanceOf[A]

  private def isCancelled(outer: Job | Null): Boolean = outer match
    case outer: TaskFiber => outer.cancelRequested
    case _ => false

  /** Gives `fiber` the locals of `outer`, the job whose code has made it, and the context that the
    * thread carries.
    */
  private[task] def inherit(fiber: TaskFiber, outer: Job | Null, carried: AnyRef | Null): Unit =
    val locals = outer match
      case outer: TaskFiber => outer.locals
      case _ => null
    val hook = fiber.runtime.hook
    fiber.locals = if hook eq null then locals else Locals.updated(locals, hook, carried)
