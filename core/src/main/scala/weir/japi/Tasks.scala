package weir.japi

import java.time.Duration
import java.util.List as JavaList
import java.util.concurrent.{Callable, CompletableFuture, CompletionStage}
import java.util.function.{BiConsumer, Supplier}
import scala.jdk.CollectionConverters.*
import scala.util.Try
import weir.{Outcome, Task}

/** Makes tasks and runs them from Java, with types of the JDK. In between, Java uses the methods of
  * `Task` itself, such as `map`, `flatMap` or `race`, which take Java's lambdas.
  *
  * Tasks run on the runtime of the fiber that the calling thread runs, or else on
  * `WeirRuntime.default`.
  */
object Tasks:

  /** Calls `callable` each time the task runs, and returns its result. `callable` may block.
    * **Fails** with the error that it throws.
    */
  def of[A](callable: Callable[? <: A]): Task[A] = Task.delay(callable.call())

  /** Calls `stage` each time this task runs, and returns the value of the resulting stage.
    * **Cancelled**: cancels the stage.
    */
  def fromStage[A](stage: Supplier[? <: CompletionStage[A]]): Task[A] =
    Task.fromCompletionStage(stage.get())

  /** Runs `task` and returns its value. **Fails** with a `java.util.concurrent.TimeoutException` if
    * that takes longer than `limit`; then the task has been cancelled, and its finalizers have run.
    */
  def timeout[A](task: Task[A], limit: Duration): Task[A] = task.timeout(Durations.of(limit))

  /** Runs `tasks` concurrently, at most `parallelism` at a time, and returns their values in the
    * order of `tasks`. **Fails** with the first error, which cancels the others.
    */
  def parSequence[A](
      parallelism: Int,
      tasks: java.lang.Iterable[? <: Task[A]]
  ): Task[JavaList[A]] =
    Task.defer(Task.parSequenceN(parallelism)(tasks.asScala.toList)).map(_.asJava)

  /** Runs `task` and returns its value. The task runs on the calling thread until it first
    * suspends; then the thread blocks. **Cancelled**: an interrupt of the thread cancels the task,
    * and throws `InterruptedException` when its finalizers have run. **Fails** with the error of
    * the task.
    */
  @throws[Exception]
  def runSync[A](task: Task[A]): A = task.runSync()

  /** Starts `task` and returns a function that cancels it. `callback` is called once: with its
    * value and null, or with null and its error. The error is a
    * `java.util.concurrent.CancellationException` if the task was cancelled.
    */
  def runAsync[A](task: Task[A], callback: BiConsumer[? >: A, ? >: Throwable]): Runnable =
    val cancel = task.runAsync {
      case Outcome.Succeeded(value) => callback.accept(value, null)
      case Outcome.Failed(error) => callback.accept(null.asInstanceOf[A], error)
      case canceled => callback.accept(null.asInstanceOf[A], Try(canceled.get).failed.get)
    }
    () => cancel()

  /** Starts `task` and returns a future of its value. Cancelling the future cancels the task. */
  def toCompletableFuture[A](task: Task[A]): CompletableFuture[A] =
    task.toCompletionStage[A]().toCompletableFuture
