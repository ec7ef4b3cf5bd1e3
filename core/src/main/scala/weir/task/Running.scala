package weir.task

import java.util.concurrent.{CompletableFuture, CompletionException, CompletionStage}
import scala.concurrent.{ExecutionContext, Future, Promise}
import scala.util.{Failure, Success}
import weir.kernel.{Async, CallbackJoin, Locals, RunLoop}
import weir.runtime.{Caller, Host, Job}
import weir.trace.ErrorTrace
import weir.{Outcome, Runtime, Task}

/** The ways from a task to its result outside of any task, and back. */
private[weir] object Running:

  def sync[A](task: Task[A], runtime: Runtime): A =
    val here = Host.here
    val caller = Caller(runtime.scheduler, here) // first: it may find that there is no stack left
    val fiber = RunLoop(runtime, task)
    def run(): Unit =
      caller.run(fiber)
      if fiber.outcome eq null then
        if caller.hasBeenInterrupted then fiber.requestCancel()
        fiber.awaitEnd(): Unit
    val outer = if here eq null then null else here.running
    val hook = runtime.hook
    val carried = if hook eq null then null else hook.capture()
    inherit(fiber, outer, carried)
    try
      outer match
        case outer: RunLoop => outer.nesting(fiber)(run())
        case _ => run()
    finally if hook ne null then hook.install(carried)
    val interrupted = caller.hasBeenInterrupted || Thread.currentThread().isInterrupted
    fiber.outcome.nn match
      case Outcome.Succeeded(value) =>
        if caller.hasBeenInterrupted then Thread.currentThread().interrupt()
        value.asInstanceOf[A]
      case Outcome.Canceled if interrupted || isCanceled(outer) =>
        Thread.interrupted(): Unit
        throw InterruptedException("The thread was interrupted in runSync; its task was canceled.")
      case other =>
        other match
          case Outcome.Failed(error) =>
            ErrorTrace.addCaller(error, fiber)
            outer match
              case outer: RunLoop => ErrorTrace.pass(error, outer, from = null)
              case _ => ()
          case _ => ()
        other.get.asInstanceOf[A]

  /** Gives `fiber` the locals of the fiber whose code has made it, and what the thread carries. */
  private def inherit(fiber: RunLoop, outer: Job | Null, carried: AnyRef | Null): Unit =
    val locals = outer match
      case outer: RunLoop => outer.locals
      case _ => null
    val hook = fiber.runtime.hook
    fiber.locals = if hook eq null then locals else Locals.updated(locals, hook, carried)

  private def isCanceled(outer: Job | Null): Boolean = outer match
    case outer: RunLoop => outer.cancelRequested
    case _ => false

  def async[A](task: Task[A], callback: Outcome[A] => Unit, runtime: Runtime): () => Unit =
    val fiber = make(task, callback, runtime)
    runtime.scheduler.submit(fiber)
    () => fiber.requestCancel()

  /** A fiber that is yet to be submitted, and calls `callback` at its end. */
  def make[A](task: Task[A], callback: Outcome[A] => Unit, runtime: Runtime): RunLoop =
    val fiber = RunLoop(runtime, task)
    val here = Host.here
    val hook = runtime.hook
    inherit(
      fiber,
      if here eq null then null else here.running,
      if hook eq null then null else hook.capture()
    )
    fiber.register((list, lock) =>
      CallbackJoin(outcome => callback(outcome.asInstanceOf[Outcome[A]]), runtime, list, lock)
    ): Unit
    fiber

  def toFuture[A](task: Task[A], runtime: Runtime): Future[A] =
    val promise = Promise[A]()
    async(
      task,
      {
        case Outcome.Succeeded(value) => promise.success(value): Unit
        case Outcome.Failed(error) => promise.failure(error): Unit
        case canceled => promise.complete(scala.util.Try(canceled.get)): Unit
      },
      runtime
    ): Unit
    promise.future

  def toCompletionStage[A](task: Task[A], runtime: Runtime): CompletionStage[A] =
    val future = CompletableFuture[A]()
    val cancel = async(
      task,
      {
        case Outcome.Succeeded(value) => future.complete(value): Unit
        case Outcome.Failed(error) => future.completeExceptionally(error): Unit
        case Outcome.Canceled => future.cancel(false): Unit
      },
      runtime
    )
    future.whenComplete((_, _) => if future.isCancelled then cancel()): Unit
    future

  def fromFuture[A](future: () => Future[A]): Task[A] =
    Async { callback =>
      future().onComplete {
        case Success(value) => callback(Right(value))
        case Failure(error) => callback(Left(error))
      }(using ExecutionContext.parasitic)
      null
    }

  def fromCompletionStage[A](stage: () => CompletionStage[A]): Task[A] =
    Async { callback =>
      val running = stage()
      running.whenComplete { (value, error) =>
        error match
          case null => callback(Right(value))
          case wrapped: CompletionException if wrapped.getCause ne null =>
            callback(Left(wrapped.getCause.nn))
          case error => callback(Left(error))
      }: Unit
      Task.delay(running.toCompletableFuture.cancel(true): Unit)
    }
