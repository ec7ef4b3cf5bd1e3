package weir.japi

import java.time.Duration
import java.util.List as JavaList
import java.util.concurrent.{Callable, CompletableFuture, CompletionStage}
import java.util.function.{BiConsumer, BiFunction, Function, Predicate, Supplier}
import scala.jdk.CollectionConverters.*
import weir.{Outcome as ScalaOutcome, Task as ScalaTask}

/** A description of work that returns an `A`, fails with an error, or is cancelled: `weir.Task` for
  * Java, with types of the JDK.
  *
  * Creating a task does nothing; `runSync` runs it, `toCompletableFuture` starts it. A task may be
  * run any number of times, and does its work anew each time. Any code in it may block.
  *
  * It runs on the runtime of the fiber that the calling thread runs, or else on
  * `WeirRuntime.default`.
  *
  * `runSync` and the like are methods of the task, not static methods that take it. With static
  * methods, `javac` could not choose between `println(char[])` and `println(String)` for
  * `println(runSync(task.map(n -> n)))`: it infers the type of a generic call from the place of its
  * result, and that of a lambda only after that. The receiver of a method call has a type of its
  * own.
  */
final class Task[A] private (underlying: ScalaTask[A]):

  // ---- one after the other ----

  /** Runs this task and returns the result of `f` for its value. */
  def map[B](f: Function[? >: A, ? <: B]): Task[B] = Task(underlying.map(a => f(a)))

  /** Runs this task, then the task that `f` returns for its value. Returns the value of the second
    * task.
    */
  def flatMap[B](f: Function[? >: A, Task[B]]): Task[B] =
    Task(underlying.flatMap(a => f(a).asScala))

  /** Runs this task, then `next`, and returns the value of `next`. */
  def andThen[B](next: Task[B]): Task[B] = Task(underlying.andThen(next.asScala))

  /** Runs this task, then the task that `f` returns for its value. Returns the value of this task.
    */
  def flatTap(f: Function[? >: A, Task[?]]): Task[A] =
    Task(underlying.flatTap(a => f(a).asScala))

  /** Waits for `duration`, then runs this task. */
  def delayBy(duration: Duration): Task[A] = Task(underlying.delayBy(Durations.of(duration)))

  // ---- errors ----

  /** Runs this task. If it fails with an `E`, returns the result of `f` for that. **Fails** with
    * any other error.
    */
  def recover[E <: Throwable](error: Class[E], f: Function[? >: E, ? <: A]): Task[A] =
    recoverWith[E](error, e => Task.pure(f(e)))

  /** Runs this task. If it fails with an `E`, runs the task that `f` returns for that, and returns
    * its value. **Fails** with any other error.
    */
  def recoverWith[E <: Throwable](error: Class[E], f: Function[? >: E, Task[A]]): Task[A] =
    Task(underlying.recoverWith { case e if error.isInstance(e) => f(error.cast(e)).asScala })

  /** Runs this task. If it fails, runs the task that `f` returns for the error, and returns its
    * value.
    */
  def handleErrorWith(f: Function[? >: Throwable, Task[A]]): Task[A] =
    Task(underlying.handleErrorWith(e => f(e).asScala))

  /** Runs this task. If it fails, runs `other` and returns its value. */
  def orElse(other: Task[A]): Task[A] = Task(underlying.orElse(other.asScala))

  /** Runs this task, and returns its value or its error. */
  def attempt(): Task[Outcome[A]] = Task(underlying.attempt.map {
    case Right(value) => Outcome(ScalaOutcome.Succeeded(value))
    case Left(error) => Outcome(ScalaOutcome.Failed(error))
  })

  /** Runs this task until it succeeds, and returns its value. After each failure, runs it again
    * after the delay that `schedule` gives. **Fails** with the last error when the schedule stops.
    */
  def retry(schedule: Schedule): Task[A] = Task(underlying.retry(schedule.underlying))

  /** As `retry`, but only for errors for which `when` is true. **Fails** at once with any other
    * error.
    */
  def retryWhen(schedule: Schedule, when: Predicate[? >: Throwable]): Task[A] =
    Task(underlying.retryWhen(schedule.underlying)(e => when.test(e)))

  /** Runs this task, and after each success runs it again after the delay that `schedule` gives.
    * Returns the value of the last run.
    */
  def repeat(schedule: Schedule): Task[A] = Task(underlying.repeat(schedule.underlying))

  // ---- cancellation and finalizers ----

  /** Runs this task. However it ends, runs `finalizer` once, before the next task. */
  def guarantee(finalizer: Task[?]): Task[A] = Task(underlying.guarantee(finalizer.asScala.void))

  /** As `guarantee`, with the finalizer that `f` returns for the outcome of this task. */
  def guaranteeCase(f: Function[? >: Outcome[A], ? <: Task[?]]): Task[A] =
    Task(underlying.guaranteeCase(outcome => f(Outcome(outcome)).asScala.void))

  /** Runs this task, then the task that `use` returns for its value, then the task that `release`
    * returns for it, and returns the value of the second one. The third one runs once, however the
    * second one ends. The first and the third cannot be cancelled.
    */
  def bracket[B](use: Function[? >: A, Task[B]], release: Function[? >: A, ? <: Task[?]]): Task[B] =
    Task(underlying.bracket(a => use(a).asScala)(a => release(a).asScala.void))

  /** Runs this task. If it is cancelled while it runs, runs `finalizer` once. */
  def onCancel(finalizer: Task[?]): Task[A] = Task(underlying.onCancel(finalizer.asScala.void))

  /** Runs this task and returns its value. **Fails** with a `java.util.concurrent.TimeoutException`
    * if that takes longer than `limit`; then this task has been cancelled, and its finalizers have
    * run.
    */
  def timeout(limit: Duration): Task[A] = Task(underlying.timeout(Durations.of(limit)))

  /** Runs this task and returns its value. If that takes longer than `limit`, runs `fallback` and
    * returns its value.
    */
  def timeoutTo(limit: Duration, fallback: Task[A]): Task[A] =
    Task(underlying.timeoutTo(Durations.of(limit), fallback.asScala))

  // ---- with another one, concurrently ----

  /** Runs both tasks concurrently and returns the result of `f` for both values. **Fails** as soon
    * as one of them fails, once the other has been cancelled.
    */
  def both[B, C](other: Task[B], f: BiFunction[? >: A, ? >: B, ? <: C]): Task[C] =
    Task(underlying.both(other.asScala).map((a, b) => f(a, b)))

  /** Runs both tasks concurrently and returns the value of the one that ends first, once the other
    * has been cancelled.
    */
  def race(other: Task[A]): Task[A] = Task(underlying.race(other.asScala).map(_.merge))

  /** Starts a fiber that runs this task, and returns the fiber. Nothing waits for the fiber. If the
    * task fails and the fiber is never joined, the error is printed. If the fiber must not outlive
    * its parent, use a `Scope`.
    */
  def start(): Task[Fiber[A]] = Task(underlying.start.map(Fiber(_)))

  // ---- running ----

  /** Runs this task and returns its value. The task runs on the calling thread until it first
    * suspends; then the thread blocks. May be called anywhere, also in the code of a task.
    *
    * **Cancelled**: an interrupt of the thread cancels the task, and throws `InterruptedException`
    * when its finalizers have run. **Fails** with the error of the task.
    */
  @throws[Exception]
  def runSync(): A = underlying.runSync()

  /** Starts this task and returns a function that cancels it. `callback` is called once: with its
    * value and null, or with null and its error. The error is a
    * `java.util.concurrent.CancellationException` if the task was cancelled.
    */
  def runAsync(callback: BiConsumer[? >: A, ? >: Throwable]): Runnable =
    Tasks.runAsync(underlying, callback)

  /** Starts this task and returns a future of its value. Cancelling the future cancels the task. */
  def toCompletableFuture(): CompletableFuture[A] = Tasks.toCompletableFuture(underlying)

  /** Returns the task of Weir's Scala API. */
  def asScala: ScalaTask[A] = underlying

object Task:
  private[japi] def ofUnit(task: ScalaTask[Unit]): Task[Void] =
    Task(task.as(null.asInstanceOf[Void]))

  private[japi] def apply[A](underlying: ScalaTask[A]): Task[A] = new Task(underlying)

  /** Returns a task for Java from one of Weir's Scala API. */
  def from[A](task: ScalaTask[A]): Task[A] = Task(task)

  /** Calls `callable` each time the task runs, and returns its result. `callable` may block.
    * **Cancelled** while it blocks: its thread is interrupted. **Fails** with the error that it
    * throws.
    */
  def of[A](callable: Callable[? <: A]): Task[A] = Task(ScalaTask.delay[A](callable.call()))

  /** As `of`, for code without a result. */
  def ofVoid(code: ThrowingRunnable): Task[Void] =
    Task(ScalaTask.delay { code.run(); null.asInstanceOf[Void] })

  /** As `of`, but a cancel does not interrupt `callable`: it waits for its end. */
  def uninterruptible[A](callable: Callable[? <: A]): Task[A] =
    Task(ScalaTask.uninterruptible[A](callable.call()))

  /** As `of`, on a thread of the operating system: for native code, which would otherwise block a
    * carrier of virtual threads.
    */
  def onPlatformThread[A](callable: Callable[? <: A]): Task[A] =
    Task(ScalaTask.onPlatformThread[A](callable.call()))

  /** Returns `value`. */
  def pure[A](value: A): Task[A] = Task(ScalaTask.pure(value))

  /** Fails with `error`. */
  def fail[A](error: Throwable): Task[A] = Task(ScalaTask.fail(error))

  /** Calls `task` each time this runs, runs the resulting task, and returns its value. */
  def defer[A](task: Supplier[Task[A]]): Task[A] = Task(ScalaTask.defer(task.get().asScala))

  /** Waits for `duration` from the time it runs. Blocks no thread. */
  def sleep(duration: Duration): Task[Void] =
    ofUnit(ScalaTask.sleep(Durations.of(duration)))

  /** Never ends. It can be cancelled. */
  def never[A](): Task[A] = Task(ScalaTask.never)

  /** Calls `stage` each time this task runs, and returns the value of the resulting stage.
    * **Cancelled**: cancels the stage. **Fails** with the stage's error, unwrapped from its
    * `CompletionException`.
    */
  def fromStage[A](stage: Supplier[? <: CompletionStage[A]]): Task[A] =
    Task(ScalaTask.fromCompletionStage(stage.get()))

  /** Runs `tasks` concurrently, at most `parallelism` at a time, and returns their values in the
    * order of `tasks`. **Fails** with the first error, which cancels the others.
    */
  def parSequence[A](
      parallelism: Int,
      tasks: java.lang.Iterable[? <: Task[A]]
  ): Task[JavaList[A]] = parTraverse[Task[A], A](parallelism, tasks, task => task)

  /** Runs the task that `f` returns for each item, concurrently, at most `parallelism` at a time,
    * and returns their values in the order of `items`. **Fails** with the first error, which
    * cancels the others.
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

  /** Runs the task that `f` returns for each item, one after the other, and returns their values.
    * **Fails** with the first error; the rest is not run then.
    */
  def traverse[A, B](
      items: java.lang.Iterable[? <: A],
      f: Function[? >: A, Task[B]]
  ): Task[JavaList[B]] = Task(
    ScalaTask.defer(ScalaTask.traverse(items.asScala.toVector)(a => f(a).asScala)).map(_.asJava)
  )

  /** Runs `tasks` concurrently and returns the value of the first one that succeeds, once the
    * others have been cancelled. **Fails** if none succeeds, with the first error; later ones are
    * suppressed under it.
    */
  def firstSuccess[A](tasks: java.lang.Iterable[Task[A]]): Task[A] =
    Task(ScalaTask.defer(ScalaTask.firstSuccess(tasks.asScala.map(_.asScala))))

  /** Runs `tasks` concurrently and returns the value of the one that ends first, also if that is an
    * error, once the others have been cancelled.
    */
  def raceAll[A](tasks: java.lang.Iterable[Task[A]]): Task[A] =
    Task(ScalaTask.defer(ScalaTask.raceAll(tasks.asScala.map(_.asScala))))
