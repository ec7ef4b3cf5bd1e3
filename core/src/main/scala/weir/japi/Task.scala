package weir.japi

import java.time.Duration
import java.util.List as JavaList
import java.util.concurrent.{Callable, CompletableFuture, CompletionStage}
import java.util.function.{BiConsumer, BiFunction, Function, Predicate, Supplier}
import scala.jdk.CollectionConverters.*
import weir.Task as ScalaTask

/** A description of work that ends with an `A`, fails with an error, or is cancelled: `weir.Task`
  * for Java, with types of the JDK.
  *
  * Making a task does nothing; `runSync` runs it, `toCompletableFuture` starts it. A task may be
  * run any number of times, and does its work anew each time. Any code in it may block.
  *
  * It runs on the runtime of the fiber that the calling thread runs, else on `Runtime.default`.
  *
  * The results are methods of the task, not static methods that are given it: `javac` could not
  * choose between `println(char[])` and `println(String)` for `println(runSync(task.map(n -> n)))`,
  * since it infers the type of a generic call from where its result goes, and of a lambda only
  * after that. What a method is called on has a type of its own.
  */
final class Task[A] private (underlying: ScalaTask[A]):

  // ---- one after the other ----

  /** The result of `f` for this task's value. */
  def map[B](f: Function[? >: A, ? <: B]): Task[B] = Task(underlying.map(a => f(a)))

  /** What the task that `f` makes of this task's value returns. */
  def flatMap[B](f: Function[? >: A, Task[B]]): Task[B] =
    Task(underlying.flatMap(a => f(a).asScala))

  /** What `next` returns, which runs once this task has ended. */
  def andThen[B](next: Task[B]): Task[B] = Task(underlying.andThen(next.asScala))

  /** This task's value, once the task that `f` makes of it has run too. */
  def flatTap(f: Function[? >: A, Task[?]]): Task[A] =
    Task(underlying.flatTap(a => f(a).asScala))

  /** This task's value, once `duration` has passed and this task has run after that. */
  def delayBy(duration: Duration): Task[A] = Task(underlying.delayBy(Durations.of(duration)))

  // ---- errors ----

  /** This task's value; if it fails with an `E`, `f` of that. **Fails** with any other error. */
  def recover[E <: Throwable](error: Class[E], f: Function[? >: E, ? <: A]): Task[A] =
    recoverWith[E](error, e => Task.pure(f(e)))

  /** This task's value; if it fails with an `E`, what the task that `f` makes of it returns.
    * **Fails** with any other error.
    */
  def recoverWith[E <: Throwable](error: Class[E], f: Function[? >: E, Task[A]]): Task[A] =
    Task(underlying.recoverWith { case e if error.isInstance(e) => f(error.cast(e)).asScala })

  /** This task's value; if it fails, what the task that `f` makes of the error returns. */
  def handleErrorWith(f: Function[? >: Throwable, Task[A]]): Task[A] =
    Task(underlying.handleErrorWith(e => f(e).asScala))

  /** This task's value, from the first run that succeeds: after each failure it runs again when
    * `schedule` says. **Fails** when the schedule stops, with the last error.
    */
  def retry(schedule: Schedule): Task[A] = Task(underlying.retry(schedule.underlying))

  /** As `retry`, for errors for which `when` is true. **Fails** at once with any other. */
  def retryWhen(schedule: Schedule, when: Predicate[? >: Throwable]): Task[A] =
    Task(underlying.retryWhen(schedule.underlying)(e => when.test(e)))

  /** The value of the last run: after each success it runs again when `schedule` says. */
  def repeat(schedule: Schedule): Task[A] = Task(underlying.repeat(schedule.underlying))

  // ---- cancellation and finalizers ----

  /** This task; however it ends, `finalizer` runs once, before what follows this task. */
  def guarantee(finalizer: Task[?]): Task[A] = Task(underlying.guarantee(finalizer.asScala.void))

  /** This task; if it is cancelled while it runs, `finalizer` runs once. */
  def onCancel(finalizer: Task[?]): Task[A] = Task(underlying.onCancel(finalizer.asScala.void))

  /** This task's value. **Fails** with a `java.util.concurrent.TimeoutException` if that takes
    * longer than `limit`; then this task has been cancelled, and its finalizers have run.
    */
  def timeout(limit: Duration): Task[A] = Task(underlying.timeout(Durations.of(limit)))

  /** This task's value, or what `fallback` returns if that takes longer than `limit`. */
  def timeoutTo(limit: Duration, fallback: Task[A]): Task[A] =
    Task(underlying.timeoutTo(Durations.of(limit), fallback.asScala))

  // ---- with another one, concurrently ----

  /** `f` of both values; the tasks run concurrently. **Fails** as soon as one does, once the other
    * one has been cancelled.
    */
  def both[B, C](other: Task[B], f: BiFunction[? >: A, ? >: B, ? <: C]): Task[C] =
    Task(underlying.both(other.asScala).map((a, b) => f(a, b)))

  /** The value of the one that ends first; the other has been cancelled. */
  def race(other: Task[A]): Task[A] = Task(underlying.race(other.asScala).map(_.merge))

  // ---- running ----

  /** The value, run on the calling thread until it first suspends; then the thread blocks. May be
    * called anywhere, also in the code of a task.
    *
    * **Cancelled**: an interrupt of the thread cancels the task, and throws
    * `InterruptedException` when its finalizers have run. **Fails** with the error of the task.
    */
  @throws[Exception]
  def runSync(): A = underlying.runSync()

  /** A function that cancels this task, which is started. `callback` is called once: with its value
    * and null, or with null and its error, which is a
    * `java.util.concurrent.CancellationException` if it was cancelled.
    */
  def runAsync(callback: BiConsumer[? >: A, ? >: Throwable]): Runnable =
    Tasks.runAsync(underlying, callback)

  /** A future of the value; the task is started. Cancelling the future cancels the task. */
  def toCompletableFuture(): CompletableFuture[A] = Tasks.toCompletableFuture(underlying)

  /** The task for Weir's Scala API. */
  def asScala: ScalaTask[A] = underlying

object Task:
  private[japi] def apply[A](underlying: ScalaTask[A]): Task[A] = new Task(underlying)

  /** A task of Weir's Scala API. */
  def from[A](task: ScalaTask[A]): Task[A] = Task(task)

  /** What `callable` returns, called each time the task runs. It may block. **Cancelled** while it
    * blocks: its thread is interrupted. **Fails** with what it throws.
    */
  def of[A](callable: Callable[? <: A]): Task[A] = Task(ScalaTask.delay[A](callable.call()))

  /** As `of`, for code without a result. */
  def ofVoid(code: ThrowingRunnable): Task[Void] =
    Task(ScalaTask.delay { code.run(); null.asInstanceOf[Void] })

  /** `value`, at once. */
  def pure[A](value: A): Task[A] = Task(ScalaTask.pure(value))

  /** Fails with `error`. */
  def fail[A](error: Throwable): Task[A] = Task(ScalaTask.fail(error))

  /** What the task returns that `task` makes each time this runs. */
  def defer[A](task: Supplier[Task[A]]): Task[A] = Task(ScalaTask.defer(task.get().asScala))

  /** Nothing, `duration` from the time it runs. Blocks no thread. */
  def sleep(duration: Duration): Task[Void] =
    Task(ScalaTask.sleep(Durations.of(duration)).as(null.asInstanceOf[Void]))

  /** Never ends, but can be cancelled. */
  def never[A](): Task[A] = Task(ScalaTask.never)

  /** The value of the stage that `stage` makes each time this task runs. **Cancelled**: cancels the
    * stage. **Fails** with the stage's error, out of its `CompletionException`.
    */
  def fromStage[A](stage: Supplier[? <: CompletionStage[A]]): Task[A] =
    Task(ScalaTask.fromCompletionStage(stage.get()))

  /** The values of `tasks`, run concurrently, at most `parallelism` at a time, in the order of
    * `tasks`. **Fails** with the first error, which cancels the others.
    */
  def parSequence[A](
      parallelism: Int,
      tasks: java.lang.Iterable[? <: Task[A]]
  ): Task[JavaList[A]] = parTraverse[Task[A], A](parallelism, tasks, task => task)

  /** The values of the tasks that `f` makes of `items`, run concurrently, at most `parallelism` at
    * a time, in the order of `items`. **Fails** with the first error, which cancels the others.
    */
  def parTraverse[A, B](
      parallelism: Int,
      items: java.lang.Iterable[? <: A],
      f: Function[? >: A, Task[B]]
  ): Task[JavaList[B]] = Task(
    ScalaTask
      .defer(ScalaTask.parTraverseN(parallelism)(items.asScala.toVector)(a => f(a).asScala))
      .map(_.asJava)
  )

  /** The value of the one of `tasks` that ends first; the others have been cancelled. */
  def raceAll[A](tasks: java.lang.Iterable[Task[A]]): Task[A] =
    Task(ScalaTask.defer(ScalaTask.raceAll(tasks.asScala.map(_.asScala))))
