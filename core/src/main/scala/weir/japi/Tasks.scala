package weir.japi

import java.time.Duration
import java.util.List as JavaList
import java.util.concurrent.{Callable, CompletableFuture, CompletionStage}
import java.util.function.{BiConsumer, Supplier}
import scala.concurrent.duration.DurationLong
import scala.jdk.CollectionConverters.*
import scala.util.Try
import weir.{Outcome, Task}

/** The way into Weir and out of it for Java, in types of the JDK. What lies between, such as `map`, `flatMap` or `race`, are the
  * methods of `Task` itself: Java's lambdas fit them.
  */
object Tasks:

  /** What `callable` returns, called each time the task runs. It may block. '''Fails''' with what it throws. */
  def of[A](callable: Callable[? <: A]): Task[A] = Task.delay(callable.call())

  /** The value of the stage that `stage` makes each time this task runs. '''Cancelled''': cancels the stage. */
  def fromStage[A](stage: Supplier[? <: CompletionStage[A]]): Task[A] =
    Task.fromCompletionStage(stage.get())

  /** The value of `task`, if that takes no longer than `limit`. '''Fails''' with a
    * `java.util.concurrent.TimeoutException` otherwise; then it has been cancelled, and its finalizers have run.
    */
  def timeout[A](task: Task[A], limit: Duration): Task[A] = task.timeout(limit.toNanos.nanos)

  /** The values of `tasks`, run concurrently, at most `parallelism` at a time, in the order of `tasks`. '''Fails''' with the
    * first error, which cancels the others.
    */
  def parSequence[A](
      parallelism: Int,
      tasks: java.lang.Iterable[? <: Task[A]]
  ): Task[JavaList[A]] =
    Task.defer(Task.parSequence[A](parallelism)(tasks.asScala)).map(_.asJava)

  /** The value of `task`, run on the calling thread until it first suspends; then the thread blocks. '''Cancelled''': an
    * interrupt of the thread cancels the task, and throws `InterruptedException` when its finalizers have run. '''Fails''' with
    * the error of the task.
    */
  @throws[Exception]
  def runSync[A](task: Task[A]): A = task.runSync()

  /** A function that cancels `task`, which is started. `callback` is called once: with its value and null, or with null and its
    * error, which is a `java.util.concurrent.CancellationException` where it was cancelled.
    */
  def runAsync[A](task: Task[A], callback: BiConsumer[? >: A, ? >: Throwable]): Runnable =
    val cancel = task.runAsync {
      case Outcome.Succeeded(value) => callback.accept(value, null)
      case Outcome.Failed(error) => callback.accept(null.asInstanceOf[A], error)
      case canceled => callback.accept(null.asInstanceOf[A], Try(canceled.get).failed.get)
    }
    () => cancel()

  /** A future of the value of `task`, which is started. Cancelling the future cancels the task. */
  def toCompletableFuture[A](task: Task[A]): CompletableFuture[A] =
    task.toCompletionStage[A]().toCompletableFuture
