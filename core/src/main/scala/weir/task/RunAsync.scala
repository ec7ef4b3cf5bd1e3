package weir.task

import java.util.concurrent.{CompletableFuture, CompletionStage}
import scala.concurrent.{Future, Promise}
import scala.util.Try
import weir.fiber.TaskFiber
import weir.runtime.{CallingThread, ExecutionThread}
import weir.{Outcome, Task, WeirRuntime}

/** Runs a task on a fiber of its own, which passes its outcome to code outside of any task. */
private[weir] object RunAsync:

  /** Returns the function that cancels the task. */
  def apply[A](task: Task[A], callback: Outcome[A] => Unit, runtime: WeirRuntime): () => Unit =
    val fiber = newFiber(task, callback, runtime)
    runtime.scheduler.submit(fiber)
    () => fiber.requestCancel()

  /** As `apply`, but begins on the calling thread, unless that runs a fiber already. */
  def here[A](
      task: Task[A],
      begins: (() => Unit) => Unit,
      callback: Outcome[A] => Unit,
      runtime: WeirRuntime
  ): Unit =
    val here = ExecutionThread.here
    val fiber = newFiber(task, callback, runtime, here)
    begins(() => fiber.requestCancel())
    if here eq null then
      val caller = CallingThread.borrowed(runtime.scheduler)
      val hook = runtime.hook
      val carried = if hook eq null then null else hook.capture()
      Thread.interrupted(): Unit // not meant for this task
      try caller.run(fiber)
      finally
        Thread.interrupted(): Unit // nor for what the thread does next
        if hook ne null then hook.install(carried)
    else runtime.scheduler.submit(fiber)

  /** Returns a fiber that is not submitted yet, and calls `callback` at its end. */
  def newFiber[A](
      task: Task[A],
      callback: Outcome[A] => Unit,
      runtime: WeirRuntime,
      here: ExecutionThread | Null = ExecutionThread.here
  ): TaskFiber =
    runtime.entered()
    val fiber = TaskFiber(runtime, task)
    val hook = runtime.hook
    RunSync.inherit(
      fiber,
      if here eq null then null else here.running,
      if hook eq null then null else hook.capture()
    )
    fiber.atEnd(callback.asInstanceOf[Outcome[Any] => Unit])
    fiber

  def toFuture[A](task: Task[A], runtime: WeirRuntime): Future[A] =
    val promise = Promise[A]()
    RunAsync(
      task,
      {
        case Outcome.Succeeded(value) => promise.success(value): Unit
        case Outcome.Failed(error) => promise.failure(error): Unit
        case Outcome.Canceled => promise.complete(Try(Outcome.Canceled.get)): Unit
      },
      runtime
    ): Unit
    promise.future

  def toCompletionStage[A](task: Task[A], runtime: WeirRuntime): CompletionStage[A] =
    val future = CompletableFuture[A]()
    val cancel = RunAsync(
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
