package weir

import java.time.Instant
import java.util.concurrent.CompletionStage
import scala.concurrent.Future
import scala.concurrent.duration.{DurationLong, FiniteDuration}
import weir.kernel.*
import weir.macros.Movable
import weir.task.*

/** A description of work that ends with an `A`, fails with a `Throwable`, or is cancelled.
  *
  * Making a task does nothing; `runSync` runs it. A task may be run any number of times, and does its work
  * anew each time. Any code in it may block: `Thread.sleep`, JDBC, sockets, locks, a nested `runSync`.
  */
abstract class Task[+A] private[weir] (tag: Int) extends Node(tag):

  // ---- one after the other ----

  /** The result of `f` for this task's value. '''Fails''' with what this task or `f` throws. */
  final def map[B](f: A => B): Task[B] = kernel.Map(this, f)

  /** What the task that `f` makes of this task's value returns. */
  final def flatMap[B](f: A => Task[B]): Task[B] = FlatMap(this, f)

  /** `value` once this task has ended. */
  final def as[B](value: B): Task[B] = map(_ => value)

  /** Nothing, once this task has ended. */
  final def void: Task[Unit] = map(_ => ())

  /** What `next` returns, which runs once this task has ended. */
  final def andThen[B](next: => Task[B]): Task[B] = flatMap(_ => next)

  /** This task's value, once `f` of it has run too. */
  final def flatTap(f: A => Task[Any]): Task[A] = flatMap(a => f(a).as(a))

  /** Never anything: runs this task again and again, in constant memory. '''Fails''' as soon as it does. */
  final def forever: Task[Nothing] = Forever(this)

  // ---- errors ----

  /** The value on the right, or the error on the left. */
  final def attempt: Task[Either[Throwable, A]] = Attempt(this)

  /** This task's value; if it fails, what the task that `f` makes of the error returns. `f` is for
    * every error: for some of them there is `recoverWith`.
    *
    * '''Fails''' with what that task or `f` throws. The error that `f` was given is suppressed
    * under what it throws.
    */
  final def handleErrorWith[B >: A](f: Throwable => Task[B]): Task[B] =
    Handle(this, ErrorHandler(f))

  /** This task's value; if it fails, `f` of the error. '''Fails''' as `handleErrorWith`. */
  final def handleError[B >: A](f: Throwable => B): Task[B] = handleErrorWith(e => Task.pure(f(e)))

  /** This task's value; if it fails with an error for which `f` has a case, what the task of that
    * case returns. '''Fails''' with any other error, as it is.
    */
  final def recoverWith[B >: A](f: PartialFunction[Throwable, Task[B]]): Task[B] =
    handleErrorWith(error => f.applyOrElse(error, Task.fail))

  /** This task's value; if it fails with an error for which `f` has a case, the value of that.
    * '''Fails''' with any other error, as it is.
    */
  final def recover[B >: A](f: PartialFunction[Throwable, B]): Task[B] =
    handleErrorWith(error => f.andThen[Task[B]](b => Task.pure(b)).applyOrElse(error, Task.fail))

  // ---- again ----

  /** This task's value, from the first run that succeeds: after each failure it runs again when `schedule` says.
    *
    * '''Waits''' between runs, without a thread. '''Cancelled''': also while it waits. '''Fails''' when the schedule stops: with
    * the last error, under which the first and the latest of the earlier ones are suppressed, at most eight.
    */
  final def retry(schedule: Schedule[Throwable]): Task[A] = Retry(this, schedule).flatMap(identity)

  /** As `retry`, for errors of which `when` is true; any other is thrown at once. */
  final def retryWhen(schedule: Schedule[Throwable])(when: Throwable => Boolean): Task[A] =
    retry(schedule.whileInput(when))

  /** The value of the last run: after each success it runs again when `schedule` says.
    *
    * '''Waits''' between runs, without a thread. '''Cancelled''': also while it waits. '''Fails''' as soon as a run does.
    */
  final def repeat(schedule: Schedule[A]): Task[A] = Repeat(this, schedule).flatMap(identity)

  /** As `repeat`, as long as `keep` is true of the value: the first other one is the result. */
  final def repeatWhile(schedule: Schedule[A])(keep: A => Boolean): Task[A] =
    repeat(schedule.whileInput(keep))

  // ---- cancellation and finalizers ----

  /** This task; if it is cancelled while it runs, `finalizer` runs once, masked. */
  final def onCancel(finalizer: Task[Unit]): Task[A] = OnCancel(this, finalizer)

  /** This task; however it ends, `finalizer` runs once, masked, before anything else goes on.
    *
    * '''Fails''' with the error of this task, the finalizer's suppressed under it.
    */
  final def guarantee(finalizer: Task[Unit]): Task[A] = guaranteeCase(_ => finalizer)

  /** As `guarantee`, with a finalizer that is told how this task has ended. */
  final def guaranteeCase(finalizer: Outcome[A] => Task[Unit]): Task[A] =
    Guarantee(this, finalizer)

  /** What `use` returns for this task's value, with `release` of that value run once, however `use` ends.
    * Acquiring (this task) and releasing are masked.
    */
  final def bracket[B](use: A => Task[B])(release: A => Task[Unit]): Task[B] =
    Task.bracket(this)(use)(release)

  /** This task; a cancel runs `onCancel`, which should make this task end, and then cancels this task as well. For code
    * that ends in a way of its own: `Task.uninterruptible(socket.read()).cancelable(Task(socket.close()))`.
    *
    * This task runs in a fiber of its own, so a mask around it reaches only the wait for it. '''Cancelled''': the cancel
    * waits for `onCancel`, then for this task and its finalizers.
    */
  final def cancelable(onCancel: Task[Unit]): Task[A] = Cancelable(this, onCancel)

  /** This task's value. '''Fails''' with a `java.util.concurrent.TimeoutException` if that takes longer than
    * `limit`; then this task has been cancelled, and its finalizers have run. Where it ends with a value all the same, as masked
    * code does, that is the result, however late.
    */
  final def timeout(limit: FiniteDuration): Task[A] = Timeout(this, limit)

  /** This task's value, or what `fallback` returns if that takes longer than `limit`; then this task has been cancelled,
    * and its finalizers have run.
    */
  final def timeoutTo[B >: A](limit: FiniteDuration, fallback: Task[B]): Task[B] =
    Timeout.orElse(this, limit, fallback)

  /** As `timeout`, but at the limit it cancels this task and waits for nothing: for code that ignores interrupts, or may
    * clean up for long. What is left behind goes on until it ends by itself. Its finalizers run then, its value is
    * dropped, and `Runtime.strays` counts it until then. It keeps what it holds, its carrier too if it computes.
    *
    * '''Cancelled''': cancels this task and waits for its finalizers, at most until the limit. '''Fails''' with a
    * `java.util.concurrent.TimeoutException` at the limit.
    */
  final def timeoutAbandon(limit: FiniteDuration): Task[A] = TimeoutAbandon(this, limit)

  // ---- fibers ----

  /** A new fiber that runs this task. Once this has returned, the finalizers at the head of this task run,
    * whenever the fiber is cancelled. An error of the fiber is for whoever joins it; where nobody has, it is printed when
    * nobody can any more.
    */
  final def start: Task[Fiber[A]] = Start(this, isReported = true)

  /** A fiber that runs this task while the resource is used, and is cancelled at the end of that. The cancel waits for
    * its finalizers. An error of the fiber is seen by whoever joins it; to be stopped by one, use `Scope.run`.
    */
  final def background: Resource[Fiber[A]] = Resource.make(start)(_.cancel)

  /** A new fiber that runs this task for as long as that takes: like `start` nobody waits for it or cancels it, but an error
    * of it is printed, since nobody may ever look. For all else there is `Scope`, `background` or `Supervisor`.
    */
  final def startDaemon: Task[Fiber[A]] = Start(
    handleErrorWith(error => Task.onRuntime(_.report("a daemon", error)).andThen(Task.fail(error))),
    isReported = false
  )

  // ---- direct style ----

  /** The value of this task, run in place by the fiber that runs the enclosing `Task.direct`.
    *
    * '''Waits''' by blocking the block's virtual thread. '''Cancelled''': ends the block as an exception would, one
    * that neither `case _: Exception` nor `NonFatal` catches. '''Fails''' with the task's error, and with an
    * `IllegalStateException` where it is not the block's own code that runs: on another thread, after its end, or in
    * a function that was given to a task.
    */
  final def await(using direct: Task.Direct): A = direct.await(this)

  // ---- running ----

  /** The value of this task, run on the calling thread until it first suspends; then the thread blocks.
    *
    * May be called anywhere, at any depth, also inside of tasks. '''Cancelled''': an interrupt of the calling
    * thread cancels the task, waits for its finalizers, and throws `InterruptedException`. '''Fails''' with
    * the error of the task, or a `java.util.concurrent.CancellationException` if the task cancels itself.
    */
  final def runSync()(using runtime: Runtime): A = Running.sync(this, runtime)

  /** A function that cancels, once this task is started on a fiber. `callback` is called once with how it has
    * ended, on the thread on which it does; it should not block for long.
    */
  final def runAsync(callback: Outcome[A] => Unit)(using runtime: Runtime): () => Unit =
    Running.async(this, callback, runtime)

  /** A future of this task's value, which is started. A canceled task fails it with a
    * `java.util.concurrent.CancellationException`.
    */
  final def toFuture()(using runtime: Runtime): Future[A] = Running.toFuture(this, runtime)

  /** A stage that completes with this task's value, which is started. Cancelling the stage's
    * `toCompletableFuture` cancels the task.
    */
  final def toCompletionStage[B >: A]()(using runtime: Runtime): CompletionStage[B] =
    Running.toCompletionStage(this, runtime)

object Task:

  /** `value`, at once. */
  def pure[A](value: A): Task[A] = Pure(value)

  /** Nothing, at once. */
  val unit: Task[Unit] = Pure(())

  /** Fails with `error`. */
  def fail(error: Throwable): Task[Nothing] = Fail(error)

  /** What `thunk` returns, evaluated each time the task runs. It may block. '''Fails''' with what it throws.
    * '''Cancelled''' while it blocks: its thread is interrupted.
    */
  inline def delay[A](inline thunk: A): Task[A] =
    inline if Movable(thunk) then
      new Delay[A]:
        def run(): Any = thunk
    else Thunk[A](() => thunk)

  /** The same as `delay`. It does not call that: each level of inlining costs the compiler time and stack. */
  inline def apply[A](inline thunk: A): Task[A] =
    inline if Movable(thunk) then
      new Delay[A]:
        def run(): Any = thunk
    else Thunk[A](() => thunk)

  /** As `delay`, but a cancel does not interrupt its thread: '''Cancelled''': waits until `thunk` has returned.
    */
  def uninterruptible[A](thunk: => A): Task[A] = uncancelable(_ => Thunk(() => thunk))

  /** What `thunk` returns, evaluated on a thread of the operating system: for native code, which would hold a carrier
    * for as long as it blocks. Other code has no use for it. There are as many threads as such calls at one time.
    *
    * '''Cancelled''': interrupts that thread, and waits until `thunk` has returned. '''Fails''' with what it throws.
    */
  def onPlatformThread[A](thunk: => A): Task[A] = OnPlatformThread(() => thunk)

  /** What `task` returns, which is made each time this task runs. */
  def defer[A](task: => Task[A]): Task[A] = Defer(() => task)

  /** What the callback that `register` is given is called with, the first time it is.
    *
    * '''Cancelled''': stops waiting, and ignores the callback from then on. Where there is something to stop,
    * use `asyncCancelable`. `register` itself is masked, and should return soon.
    */
  def async[A](register: (Either[Throwable, A] => Unit) => Unit): Task[A] =
    Async { callback =>
      register(callback)
      null
    }

  /** As `async`; the task that `register` returns runs when the wait is cancelled, and the cancel waits for it. */
  def asyncCancelable[A](register: (Either[Throwable, A] => Unit) => Task[Unit]): Task[A] =
    Async(register)

  /** Never ends, but can be cancelled. */
  val never: Task[Nothing] = Never

  /** Nothing, `duration` from the time it runs; at once if that is not positive. Blocks no thread. */
  def sleep(duration: FiniteDuration): Task[Unit] = Sleep(duration.toNanos)

  /** The time since an arbitrary moment, on a clock that never goes back: for measuring how long something takes. */
  val monotonic: Task[FiniteDuration] = onRuntime(runtime => runtime.timers.nanoTime.nanos)

  /** The time of day. */
  val realTime: Task[Instant] = onRuntime(_.timers.realTime)

  private[weir] def onRuntime[A](f: Runtime => A): Task[A] = new Suspend[A]:
    def begin(fiber: RunLoop): Any = f(fiber.runtime)

  /** Lets other fibers run, where any wait for the carrier that this one is on. (The own thread of a `runSync` is none.) */
  val cede: Task[Unit] = Cede

  /** Cancels the fiber that runs it. Inside of `uncancelable`, it goes on until the first task after that. */
  val canceled: Task[Unit] = CancelSelf

  /** What `body` returns, run so that a cancel waits until the first task after it, or until it comes to a task that the
    * poll has unmasked. A fiber whose last act it is ends with its value.
    */
  def uncancelable[A](body: Poll => Task[A]): Task[A] = Uncancelable(body)

  /** What `use` returns for the value of `acquire`, with `release` of that value run once, however `use` ends.
    * `acquire` and `release` are masked.
    */
  def bracket[A, B](acquire: Task[A])(use: A => Task[B])(release: A => Task[Unit]): Task[B] =
    Bracket(acquire, use, (a, _) => release(a))

  // ---- direct style ----

  /** What `body` returns: plain code that may `await` tasks, also in its loops, lambdas, `try` and callbacks.
    *
    * '''Cancelled''': at an `await`, and where the code blocks. Every `finally` runs, and what it awaits is run masked;
    * whatever the code does then, the fiber ends as cancelled. '''Fails''' with what `body` throws.
    */
  def direct[A](body: Direct ?=> A): Task[A] = DirectBlock.run(body)

  /** The right to call `await`: a method that takes it, `(using Task.Direct)`, may be called in a `Task.direct`. */
  type Direct = DirectBlock

  // ---- many, one after the other ----

  /** The values of `tasks`, run in order. */
  def sequence[A](tasks: Iterable[Task[A]]): Task[List[A]] = Sequence(tasks)

  /** The values of the tasks that `f` makes of `items`, made and run in order. */
  def traverse[A, B](items: Iterable[A])(f: A => Task[B]): Task[List[B]] = Traverse(items, f)

  /** Runs the tasks that `f` makes of `items` in order, and keeps nothing. */
  def foreach[A](items: Iterable[A])(f: A => Task[Any]): Task[Unit] = Foreach(items, f)

  // ---- many, concurrently. The first failure cancels the others, and is thrown once they have ended. ----

  /** The values of `tasks`, run concurrently, in the order of `tasks`. */
  def parSequence[A](tasks: Iterable[Task[A]]): Task[List[A]] =
    ParTraverse(Int.MaxValue, tasks, identity, unordered = false)

  /** The values of `tasks`, run concurrently, at most `parallelism` at a time, in the order of `tasks`. */
  def parSequence[A](parallelism: Int)(tasks: Iterable[Task[A]]): Task[List[A]] =
    ParTraverse(parallelism, tasks, identity, unordered = false)

  /** The values of `tasks`, run concurrently, in the order in which they end. */
  def parSequenceUnordered[A](tasks: Iterable[Task[A]]): Task[List[A]] =
    ParTraverse(Int.MaxValue, tasks, identity, unordered = true)

  /** The values of the tasks that `f` makes of `items`, run concurrently, in the order of `items`. */
  def parTraverse[A, B](items: Iterable[A])(f: A => Task[B]): Task[List[B]] =
    ParTraverse(Int.MaxValue, items, f, unordered = false)

  /** As `parTraverse` without a number; at most `parallelism` of the tasks have begun and not ended. */
  def parTraverse[A, B](parallelism: Int)(items: Iterable[A])(f: A => Task[B]): Task[List[B]] =
    ParTraverse(parallelism, items, f, unordered = false)

  /** The values of the tasks that `f` makes of `items`, run concurrently, in the order in which they end. */
  def parTraverseUnordered[A, B](items: Iterable[A])(f: A => Task[B]): Task[List[B]] =
    ParTraverse(Int.MaxValue, items, f, unordered = true)

  /** As `parTraverseUnordered` without a number; at most `parallelism` have begun and not ended. */
  def parTraverseUnordered[A, B](
      parallelism: Int
  )(items: Iterable[A])(f: A => Task[B]): Task[List[B]] =
    ParTraverse(parallelism, items, f, unordered = true)

  /** Runs the tasks that `f` makes of `items` concurrently, at most `parallelism` at a time, and keeps nothing:
    * items are taken one by one, and a million of them cost no more memory than `parallelism`.
    */
  def parForeach[A](parallelism: Int)(items: Iterable[A])(f: A => Task[Any]): Task[Unit] =
    ParForeach(parallelism, items, f)

  /** The value of the one that ends first. The other has been cancelled, and its finalizers have run.
    * '''Fails''' if the first one to end does.
    */
  def race[A, B](left: Task[A], right: Task[B]): Task[Either[A, B]] = Race(left, right)

  /** The value of the first to succeed; the others have been cancelled, and their finalizers have run. '''Fails''' if
    * none succeeds: with the first error, later ones suppressed under it. One that cancels itself is out of the race.
    */
  def firstSuccess[A](tasks: Iterable[Task[A]]): Task[A] = FirstSuccess(tasks)

  /** Both values; the tasks run concurrently. */
  def both[A, B](left: Task[A], right: Task[B]): Task[(A, B)] =
    parSequence[A | B](List(left, right)).map { case values =>
      (values(0).asInstanceOf[A], values(1).asInstanceOf[B])
    }

  // ---- from elsewhere ----

  /** The value of the future that `future` makes each time this task runs. '''Cancelled''': stops waiting. */
  def fromFuture[A](future: => Future[A]): Task[A] = Running.fromFuture(() => future)

  /** The value of the stage that `stage` makes each time this task runs. '''Cancelled''': cancels the stage.
    * '''Fails''' with the stage's error, out of its `CompletionException`.
    */
  def fromCompletionStage[A](stage: => CompletionStage[A]): Task[A] =
    Running.fromCompletionStage(() => stage)
