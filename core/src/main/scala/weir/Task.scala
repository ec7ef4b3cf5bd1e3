package weir

import java.time.Instant
import java.util.concurrent.CompletionStage
import scala.concurrent.{ExecutionContext, Future}
import scala.concurrent.duration.{DurationLong, FiniteDuration}
import scala.util.Try
import weir.fiber.*
import weir.group.{ErrorHandler, Failures}
import weir.task.*
import weir.macros.Movable

/** A description of work that ends with an `A`, fails with a `Throwable`, or is cancelled.
  *
  * Making a task does nothing; `runSync` runs it. A task may be run any number of times, and does
  * its work anew each time. Any code in it may block: `Thread.sleep`, JDBC, sockets, locks, a
  * nested `runSync`.
  */
abstract class Task[+A] private[weir] (tag: Int) extends Node(tag):

  // ---- one after the other ----

  /** The result of `f` for this task's value. **Fails** with what this task or `f` throws.
    * {{{
    * val length: Task[Int] = Task(Files.readString(path)).map(_.length)
    * }}}
    */
  final def map[B](f: A => B): Task[B] = fiber.Mapped(this, f)

  /** What the task that `f` makes of this task's value returns.
    * {{{
    * val orders: Task[List[Order]] = load(id).flatMap(user => ordersOf(user.name.length))
    * }}}
    */
  final def flatMap[B](f: A => Task[B]): Task[B] = FlatMap(this, f)

  /** `value` once this task has ended. */
  final def as[B](value: B): Task[B] = map(_ => value)

  /** Nothing, once this task has ended. */
  final def void: Task[Unit] = map(_ => ())

  /** What `next` returns, which runs once this task has ended. */
  final def andThen[B](next: => Task[B]): Task[B] = flatMap(_ => next)

  /** The same as `andThen`.
    * {{{
    * val started: Task[User] = Task(log("starting")) >> load(id)
    * }}}
    */
  final def >>[B](next: => Task[B]): Task[B] = flatMap(_ => next)

  /** This task's value, once `f` of it has run too. */
  final def flatTap(f: A => Task[Any]): Task[A] = flatMap(a => f(a).as(a))

  /** This task's value, once `duration` has passed and this task has run after that. Blocks no
    * thread meanwhile.
    * {{{
    * def ping: Task[Unit] = Task(println("ping")).delayBy(1.second)
    * }}}
    */
  final def delayBy(duration: FiniteDuration): Task[A] = Task.sleep(duration).flatMap(_ => this)

  /** How long this task took, by a clock that never goes back, and its value.
    * {{{
    * val lines = Task(Files.readAllLines(path)).timed.map((took, all) => s"${all.size} in $took")
    * }}}
    */
  final def timed: Task[(FiniteDuration, A)] =
    Task.monotonic.flatMap(start => flatMap(a => Task.monotonic.map(end => (end - start, a))))

  /** This task's value; prints how it has ended to the standard error first, after `label`: for a
    * look at what happens.
    * {{{
    * val user = load(id).debug("user") // user: Succeeded(User(1))
    * }}}
    */
  final def debug(label: String = "task"): Task[A] =
    guaranteeCase(outcome => Task(System.err.println(s"$label: $outcome")))

  /** Does not return: runs this task again and again, in constant memory. **Fails** as soon as this
    * task does.
    */
  final def forever: Task[Nothing] = Forever(this)

  // ---- errors ----

  /** The value on the right, or the error on the left.
    * {{{
    * val result: Task[Either[Throwable, User]] = load(id).attempt
    * }}}
    */
  final def attempt: Task[Either[Throwable, A]] = Attempt(this)

  /** This task's value; if it fails, what the task that `f` makes of the error returns. `f` is for
    * every error: for some of them there is `recoverWith`.
    *
    * **Fails** with what that task or `f` throws. The error that `f` was given is suppressed
    * under what it throws.
    * {{{
    * val config = fromFile.handleErrorWith(error => Task(log(s"$error")) >> fromNetwork)
    * }}}
    */
  final def handleErrorWith[B >: A](f: Throwable => Task[B]): Task[B] =
    Handle(this, ErrorHandler(f))

  /** This task's value; if it fails, `f` of the error. **Fails** as `handleErrorWith`. */
  final def handleError[B >: A](f: Throwable => B): Task[B] = handleErrorWith(e => Task.pure(f(e)))

  /** This task's value; if it fails with an error for which `f` has a case, what the task of that
    * case returns. **Fails** with any other error, as it is.
    * {{{
    * val text = Task(fetch(urls.head)).recoverWith {
    *   case _: IOException => Task(Files.readString(path))
    * }
    * }}}
    */
  final def recoverWith[B >: A](f: PartialFunction[Throwable, Task[B]]): Task[B] =
    handleErrorWith(error => f.applyOrElse(error, Task.fail))

  /** This task's value; if it fails with an error for which `f` has a case, the value of that.
    * **Fails** with any other error, as it is.
    * {{{
    * val text = Task(fetch(urls.head)).recover { case _: IOException => "" }
    * }}}
    */
  final def recover[B >: A](f: PartialFunction[Throwable, B]): Task[B] =
    handleErrorWith(error => f.andThen[Task[B]](b => Task.pure(b)).applyOrElse(error, Task.fail))

  /** The value, or `None` if this task fails: whatever the error.
    * {{{
    * val user: Task[Option[User]] = load(id).option
    * }}}
    */
  final def option: Task[Option[A]] = redeem(_ => None, Some(_))

  /** `onSuccess` of the value, or `onFailure` of the error. **Fails** with what either throws.
    * {{{
    * val shown: Task[String] = load(id).redeem(error => s"none: ${error.getMessage}", _.name)
    * }}}
    */
  final def redeem[B](onFailure: Throwable => B, onSuccess: A => B): Task[B] =
    attempt.map(_.fold(ErrorHandler(onFailure), onSuccess))

  /** What the task returns that `onSuccess` makes of the value, or `onFailure` of the error. An
    * error of `onSuccess` is not for `onFailure`, which it is where `handleErrorWith` comes after
    * `flatMap`.
    * {{{
    * val shown = load(id).redeemWith(_ => Task.pure(Nil), user => ordersOf(user.name.length))
    * }}}
    */
  final def redeemWith[B](onFailure: Throwable => Task[B], onSuccess: A => Task[B]): Task[B] =
    attempt.flatMap(_.fold(ErrorHandler(onFailure), onSuccess))

  /** This task's value; if it fails, what `other` returns. **Fails** with the error of `other`,
    * this task's suppressed under it.
    * {{{
    * val config = fromFile.orElse(fromNetwork)
    * }}}
    */
  final def orElse[B >: A](other: => Task[B]): Task[B] =
    handleErrorWith(error => other.adaptError { case later => Failures.add(later, error) })

  /** This task's value. **Fails** with its error, once the task has run that `f` has for it, if
    * any. What that fails with is suppressed under the error.
    * {{{
    * val user = load(id).onError { case e: IOException => Task(log(s"no answer: $e")) }
    * }}}
    */
  final def onError(f: PartialFunction[Throwable, Task[Any]]): Task[A] =
    handleErrorWith(error =>
      Task
        .defer(f.applyOrElse(error, _ => Task.unit))
        .handleError(later => Failures.add(error, later))
        .flatMap(_ => Task.fail(error))
    )

  /** This task's value. **Fails** with what `f` makes of its error, or with that error where `f`
    * has no case.
    * {{{
    * val user = load(id).adaptError { case e: SQLException => UserNotFound(id, cause = e) }
    * }}}
    */
  final def adaptError(f: PartialFunction[Throwable, Throwable]): Task[A] =
    handleErrorWith(error => Task.fail(f.applyOrElse(error, identity)))

  /** The value on the right of this task's value. **Fails** with the error on the left: the
    * opposite of `attempt`.
    * {{{
    * val number: Task[Int] = Task(parse("7").toEither).rethrow
    * }}}
    */
  final def rethrow[B](using either: A <:< Either[Throwable, B]): Task[B] =
    flatMap(a => Task.fromEither(either(a)))

  // ---- again ----

  /** This task's value, from the first run that succeeds: after each failure it runs again when
    * `schedule` says.
    *
    * **Waits** between runs, without a thread. **Cancelled**: also while it waits. **Fails** when
    * the schedule stops: with the last error, under which the first and the latest of the earlier
    * ones are suppressed, at most eight.
    * {{{
    * val page = Task(fetch(urls.head)).retry(Schedule.exponential(100.millis).times(5))
    * }}}
    */
  final def retry(schedule: Schedule[Throwable]): Task[A] = Retry(this, schedule).flatMap(identity)

  /** As `retry`, for errors for which `when` is true. **Fails** at once with any other. */
  final def retryWhen(schedule: Schedule[Throwable])(when: Throwable => Boolean): Task[A] =
    retry(schedule.whileInput(when))

  /** The value of the last run: after each success it runs again when `schedule` says.
    *
    * **Waits** between runs, without a thread. **Cancelled**: also while it waits. **Fails** as
    * soon as a run does.
    */
  final def repeat(schedule: Schedule[A]): Task[A] = Repeat(this, schedule).flatMap(identity)

  /** As `repeat`, as long as `keep` is true of the value: the first value for which it is false is
    * the result.
    */
  final def repeatWhile(schedule: Schedule[A])(keep: A => Boolean): Task[A] =
    repeat(schedule.whileInput(keep))

  /** The first value of which `keep` is false: runs this task again at once for each other one, in
    * constant memory.
    * {{{
    * val line = Task(readLine()).iterateWhile(_.isBlank)
    * }}}
    */
  final def iterateWhile(keep: A => Boolean): Task[A] =
    flatMap(a => if keep(a) then iterateWhile(keep) else Task.pure(a))

  /** The first value of which `done` is true: see `iterateWhile`.
    * {{{
    * val answer = Task(readLine()).iterateUntil(line => line == "yes" || line == "no")
    * }}}
    */
  final def iterateUntil(done: A => Boolean): Task[A] = iterateWhile(a => !done(a))

  /** The values of `n` runs, one after the other; none if `n` is not positive.
    * {{{
    * val three: Task[List[String]] = Task(readLine()).replicate(3)
    * }}}
    */
  final def replicate(n: Int): Task[List[A]] = Traverse(0 until n, _ => this)

  /** A task that runs this one once, whoever asks first, and gives its value, or its error, to all
    * who ask.
    *
    * It has the locals of the caller that it runs for first. **Waits** while it runs for another
    * caller. **Cancelled**: harms nobody else. It goes on while one caller waits for it; the cancel
    * of the last one cancels it, and waits for its finalizers. A caller that comes then runs it
    * anew, perhaps beside those.
    * {{{
    * for
    *   token <- login.memoize
    *   _ <- Task.parTraverse(requests)(request => token.flatMap(send(request, _))) // one login
    * yield ()
    * }}}
    */
  final def memoize: Task[Task[A]] = Cache.memoize(this)

  // ---- cancellation and finalizers ----

  /** This task; if it is cancelled while it runs, `finalizer` runs once, masked. */
  final def onCancel(finalizer: Task[Unit]): Task[A] = OnCancel(this, finalizer)

  /** This task; however it ends, `finalizer` runs once, masked, before what follows this task.
    *
    * **Fails** with the error of this task, the finalizer's suppressed under it.
    * {{{
    * val user = load(id).guarantee(Task(log("over")))
    * }}}
    */
  final def guarantee(finalizer: Task[Unit]): Task[A] = guaranteeCase(_ => finalizer)

  /** As `guarantee`, with a finalizer that is told how this task has ended. */
  final def guaranteeCase(finalizer: Outcome[A] => Task[Unit]): Task[A] =
    Guarantee(this, finalizer)

  /** What `use` returns for this task's value, with `release` of that value run once, however `use`
    * ends. Acquiring (this task) and releasing are masked.
    * {{{
    * val first: Task[String] = Task(Files.newBufferedReader(path)).bracket(reader =>
    *   Task(reader.readLine())
    * )(reader => Task(reader.close()))
    * }}}
    */
  final def bracket[B](use: A => Task[B])(release: A => Task[Unit]): Task[B] =
    Task.bracket(this)(use)(release)

  /** As `bracket`, with a `release` that also gets the outcome of `use`, for example to commit or
    * to roll back.
    * {{{
    * import java.sql.Connection
    * def inOne[A](begin: Task[Connection])(use: Connection => Task[A]): Task[A] =
    *   begin.bracketCase(use) {
    *     case (c, Outcome.Succeeded(_)) => Task(c.commit())
    *     case (c, _) => Task(c.rollback())
    *   }
    * }}}
    */
  final def bracketCase[B](use: A => Task[B])(release: (A, Outcome[B]) => Task[Unit]): Task[B] =
    Task.bracketCase(this)(use)(release)

  /** This task; a cancel runs `onCancel`, which should make this task end, and then cancels this
    * task as well. For code that is ended by a call of its own:
    * `Task.uninterruptible(socket.read()).cancelable(Task(socket.close()))`.
    *
    * This task runs in a fiber of its own, so a mask around it reaches only the wait for it.
    * **Cancelled**: the cancel waits for `onCancel`, then for this task and its finalizers.
    */
  final def cancelable(onCancel: Task[Unit]): Task[A] = Cancelable(this, onCancel)

  /** This task's value. **Fails** with a `java.util.concurrent.TimeoutException` if that takes
    * longer than `limit`; then this task has been cancelled, and its finalizers have run. Where it
    * ends with a value in spite of the cancel, as masked code does, that value is the result,
    * however late.
    * {{{
    * val user = load(id).timeout(2.seconds)
    * }}}
    */
  final def timeout(limit: FiniteDuration): Task[A] = Timeout(this, limit)

  /** This task's value, or what `fallback` returns if that takes longer than `limit`; then this
    * task has been cancelled, and its finalizers have run.
    * {{{
    * val text = Task(fetch(urls.head)).timeoutTo(2.seconds, Task(Files.readString(path)))
    * }}}
    */
  final def timeoutTo[B >: A](limit: FiniteDuration, fallback: Task[B]): Task[B] =
    Timeout.orElse(this, limit, fallback)

  /** As `timeout`, but at the limit it cancels this task and waits for nothing: for code that
    * ignores interrupts, or may clean up for long. This task is then abandoned: it goes on until it
    * ends by itself. Its finalizers run then, its value is dropped, and `Runtime.abandonedTasks`
    * counts it until then. It keeps what it holds, its carrier too if it computes.
    *
    * **Cancelled**: cancels this task and waits for its finalizers, at most until the limit.
    * **Fails** with a `java.util.concurrent.TimeoutException` at the limit.
    */
  final def timeoutAbandon(limit: FiniteDuration): Task[A] = TimeoutAbandon(this, limit)

  // ---- with another one, concurrently ----

  /** Both values; the tasks run concurrently. **Fails** as soon as one does, once the other one has
    * been cancelled.
    * {{{
    * val page: Task[(User, List[Order])] = load(id).both(ordersOf(id))
    * }}}
    */
  final def both[B](other: Task[B]): Task[(A, B)] = Task.both(this, other)

  /** The value of the one that ends first; the other has been cancelled. **Fails** if the first one
    * to end does.
    * {{{
    * val first: Task[Either[String, String]] = ask("a.example").race(ask("b.example"))
    * }}}
    */
  final def race[B](other: Task[B]): Task[Either[A, B]] = Task.race(this, other)

  // ---- fibers ----

  /** A new fiber that runs this task. Once this has returned, the finalizers at the head of this
    * task run, whenever the fiber is cancelled. Those who join the fiber get its error. If no one
    * has joined it, the error is printed once no one can any more.
    * {{{
    * val both = for
    *   fiber <- load(id).start
    *   orders <- ordersOf(id)
    *   user <- fiber.joinOrFail
    * yield (user, orders)
    * }}}
    */
  final def start: Task[Fiber[A]] = Start(this, isReported = true)

  /** A fiber that runs this task while the resource is used, and is cancelled at the end of that.
    * The cancel waits for its finalizers. Those who join the fiber get its error, which stops
    * nothing else; for that use `Scope.run`.
    * {{{
    * val user = Task(log("still at it")).delayBy(1.second).forever.background.use(_ => load(id))
    * }}}
    */
  final def background: Resource[Fiber[A]] = Resource.make(start)(_.cancel)

  /** A new fiber that runs this task for as long as that takes. As with `start`, nothing waits for
    * it or cancels it; but its error is printed at once, since it may never be joined. Where
    * something should wait or cancel, use `Scope`, `background` or `Supervisor`.
    */
  final def startDaemon: Task[Fiber[A]] = Start(
    handleErrorWith(error => Task.onRuntime(_.report("a daemon", error)).andThen(Task.fail(error))),
    isReported = false
  )

  // ---- execution contexts ----

  /** This task, whose steps run on the threads of `context`, as do those of the fibers that it
    * starts: for code that must run on a given thread, such as that of a user interface. Blocking
    * code needs no context.
    *
    * The fiber goes back to where it was before this task, however this ends. A context that runs
    * code in place, on the thread that gives it the code (`ExecutionContext.parasitic`), or that
    * refuses it, changes nothing: the step runs on a worker of the runtime. What a context takes
    * and never runs, as a pool may that is shut down, never goes on.
    *
    * A stream in this task keeps no thread of `context` while it waits: a worker runs its loop, and
    * `context` each of its effects. Plain functions of such a stream, as those of `map`, run on the
    * worker. A collection or an `unfold` with steps such as `map`, without effects, runs on
    * `context`. Code of a `Task.direct` does so too, and blocks its thread while it awaits: on a
    * pool that cannot grow, such as one of one thread, it must not await what needs another thread
    * of that pool.
    *
    * Where a stream or a `Task.direct` awaits this, another fiber runs it on `context`. That fiber
    * is cancelled with the one that waits, and has the same masks and locals.
    * {{{
    * val context = scala.concurrent.ExecutionContext.global
    * val name = Task(Thread.currentThread.getName).evalOn(context)
    * }}}
    */
  final def evalOn(context: ExecutionContext): Task[A] = EvalOn(this, context)

  // ---- direct style ----

  /** The value of this task, run in place by the fiber that runs the enclosing `Task.direct`.
    *
    * **Waits** by blocking the block's virtual thread. **Cancelled**: ends the block as an
    * exception would, one that neither `case _: Exception` nor `NonFatal` catches. **Fails** with
    * the task's error, and with an `IllegalStateException` where it is not the block's own code
    * that runs: on another thread, after its end, or in a function that was given to a task.
    */
  final def await(using direct: Task.Direct): A = direct.await(this)

  // ---- running ----

  /** The value of this task, run on the calling thread until it first suspends; then the thread
    * blocks.
    *
    * May be called anywhere, at any depth, also inside of tasks. **Cancelled**: an interrupt of the
    * calling thread cancels the task, waits for its finalizers, and throws `InterruptedException`.
    * **Fails** with the error of the task, or a `java.util.concurrent.CancellationException` if the
    * task cancels itself.
    * {{{
    * val user: User = load(id).runSync()
    * }}}
    */
  final def runSync()(using runtime: Runtime): A = RunSync(this, runtime)

  /** A function that cancels this task, which is started on a fiber of its own. `callback` is
    * called once with the outcome, on the thread on which the fiber ends; it should not block for
    * long.
    */
  final def runAsync(callback: Outcome[A] => Unit)(using runtime: Runtime): () => Unit =
    RunAsync(this, callback, runtime)

  /** A future of this task's value, which is started. A canceled task fails it with a
    * `java.util.concurrent.CancellationException`.
    */
  final def toFuture()(using runtime: Runtime): Future[A] = RunAsync.toFuture(this, runtime)

  /** A stage that completes with this task's value, which is started. Cancelling the stage's
    * `toCompletableFuture` cancels the task.
    */
  final def toCompletionStage[B >: A]()(using runtime: Runtime): CompletionStage[B] =
    RunAsync.toCompletionStage(this, runtime)

object Task extends TaskCollections:

  /** `value`, at once. */
  def pure[A](value: A): Task[A] = Pure(value)

  /** Nothing, at once. */
  val unit: Task[Unit] = Pure(())

  /** Fails with `error`. */
  def fail(error: Throwable): Task[Nothing] = Fail(error)

  /** What `thunk` returns, evaluated each time the task runs. It may block. **Fails** with what it
    * throws. **Cancelled** while it blocks: its thread is interrupted.
    */
  inline def delay[A](inline thunk: A): Task[A] =
    inline if Movable(thunk) then
      new Delay[A]:
        def run(): Any = thunk
    else Thunk[A](() => thunk)

  /** The same as `delay`. It does not call that: each level of inlining costs the compiler time and
    * stack.
    * {{{
    * val text: Task[String] = Task(Files.readString(path))
    * }}}
    */
  inline def apply[A](inline thunk: A): Task[A] =
    inline if Movable(thunk) then
      new Delay[A]:
        def run(): Any = thunk
    else Thunk[A](() => thunk)

  /** As `delay`, but a cancel does not interrupt its thread, as in Cats Effect's `delay`. It costs
    * no more than `delay`.
    *
    * **Cancelled**: waits until `thunk` has returned. Nor does a cancel interrupt the functions of
    * `map` and `flatMap` that come directly after it, which should not block.
    * {{{
    * val stored = Task.uninterruptible(Files.writeString(path, "text"))
    * }}}
    */
  def uninterruptible[A](thunk: => A): Task[A] = Uninterruptible(() => thunk)

  /** As `delay`, for code that swallows interrupts: a cancel interrupts its thread again and again,
    * with pauses of 1 to 16 ms, until `thunk` has returned. It runs in a fiber of its own.
    *
    * **Cancelled**: waits until `thunk` has returned. Its value is lost.
    * {{{
    * val text = Task.interruptibleMany(Files.readString(path))
    * }}}
    */
  def interruptibleMany[A](thunk: => A): Task[A] = InterruptibleMany(() => thunk)

  /** What `thunk` returns, evaluated on a thread of the operating system: for native code, which
    * would hold a carrier for as long as it blocks. Other code gains nothing from it. There are as
    * many such threads as calls at one time.
    *
    * **Cancelled**: interrupts that thread, and waits until `thunk` has returned. **Fails** with
    * what it throws.
    */
  def onPlatformThread[A](thunk: => A): Task[A] = OnPlatformThread(() => thunk)

  /** As `onPlatformThread`, for a call that nothing ends: a cancel does not wait for it. Must run
    * in the `uncancelable` that `poll` belongs to, so that the value is not lost. A value that
    * comes after a cancel is passed to `late`.
    */
  private[weir] def abandonable[A](poll: Poll)(thunk: => A)(late: A => Unit): Task[A] =
    AbandonableCall(poll, () => thunk, late)

  /** What `task` returns, which is made each time this task runs. */
  def defer[A](task: => Task[A]): Task[A] = Defer(() => task)

  /** What the callback that `register` is given is called with, the first time it is.
    *
    * **Cancelled**: stops waiting, and ignores the callback from then on. Where there is something
    * to stop, use `asyncCancelable`. `register` itself is masked, and should return soon.
    */
  def async[A](register: (Either[Throwable, A] => Unit) => Unit): Task[A] =
    Async { callback =>
      register(callback)
      null
    }

  /** As `async`; the task that `register` returns runs when the wait is cancelled, and the cancel
    * waits for it.
    */
  def asyncCancelable[A](register: (Either[Throwable, A] => Unit) => Task[Unit]): Task[A] =
    Async(register)

  /** As `async`, but a cancel does not end the wait: for a callback whose value must not be lost,
    * and that comes soon. **Cancelled**: waits for the callback. `register` is masked too.
    * {{{
    * val answer = Task.asyncUncancelable[String](callback => request(callback))
    * }}}
    */
  def asyncUncancelable[A](register: (Either[Throwable, A] => Unit) => Unit): Task[A] =
    AsyncUncancelable(register)

  /** As `asyncCancelable`, where a task registers the callback, which may answer at once: with the
    * result on the right; or on the left with what is to run when the wait is cancelled, or `None`
    * for a wait that no cancel ends. It is Cats Effect's method of that name.
    *
    * **Waits** until the callback is called, unless the registration has answered. **Cancelled**:
    * the registration is masked; a cancel of the wait runs what it has returned, and waits for
    * that. A value that has come by then is the result. **Fails** with the error of the
    * registration, or with the callback's.
    * {{{
    * def next(ready: Option[String]): Task[String] = Task.asyncCheckAttempt { callback =>
    *   ready match
    *     case Some(answer) => Task.pure(Right(answer))
    *     case None => Task(request(callback)).as(Left(Some(Task(log("cancelled")))))
    * }
    * }}}
    */
  def asyncCheckAttempt[A](
      register: (Either[Throwable, A] => Unit) => Task[Either[Option[Task[Unit]], A]]
  ): Task[A] = AsyncAttempt(register)

  /** Never ends, but can be cancelled. */
  val never: Task[Nothing] = Never

  /** Nothing, `duration` from the time it runs; at once if that is not positive. Blocks no thread.
    * {{{
    * val later = Task.sleep(1.second) >> Task(log("a second later"))
    * }}}
    */
  def sleep(duration: FiniteDuration): Task[Unit] = Sleep(duration.toNanos)

  /** The time since an arbitrary moment, on a clock that never goes back: for measuring how long
    * something takes.
    */
  val monotonic: Task[FiniteDuration] = onRuntime(runtime => runtime.timers.nanoTime.nanos)

  /** The time of day. */
  val realTime: Task[Instant] = onRuntime(_.timers.realTime)

  /** What runs the steps of this fiber: the context of the `evalOn` around it, or that of its
    * runtime.
    * {{{
    * val answer = Task.executionContext.flatMap { context =>
    *   Task.fromFuture(scala.concurrent.Future("ready")(using context))
    * }
    * }}}
    */
  val executionContext: Task[ExecutionContext] = new Suspend[ExecutionContext]:
    def begin(fiber: TaskFiber): Any =
      val context = fiber.context
      if context eq null then fiber.runtime.executionContext else context

  private[weir] def onRuntime[A](f: Runtime => A): Task[A] = new Suspend[A]:
    def begin(fiber: TaskFiber): Any = f(fiber.runtime)

  /** Yields to other fibers, if any are queued. On a platform thread that has called `runSync`,
    * which holds no carrier, it does nothing.
    */
  val cede: Task[Unit] = Cede

  /** Cancels the fiber that runs it. Inside of `uncancelable`, the fiber goes on until the first
    * task after that.
    */
  val canceled: Task[Unit] = CancelSelf

  /** What `body` returns, run masked: a cancel waits until the first task after it, or until `body`
    * comes to a task that the poll has unmasked. Where nothing follows it, the fiber ends with its
    * value, also if it was cancelled meanwhile.
    * {{{
    * val moved = Task.uncancelable(poll => poll(load(id)).flatMap(user => store(user.name)))
    * }}}
    */
  def uncancelable[A](body: Poll => Task[A]): Task[A] = Uncancelable(body)

  /** What `use` returns for the value of `acquire`, with `release` of that value run once, however
    * `use` ends. `acquire` and `release` are masked.
    */
  def bracket[A, B](acquire: Task[A])(use: A => Task[B])(release: A => Task[Unit]): Task[B] =
    Bracket(acquire, use, (a, _) => release(a))

  /** As `bracket`, with a `release` that also gets the outcome of `use`.
    * {{{
    * val saved: Task[Unit] = Task.bracketCase(Task(Files.createTempFile("a", ".txt"))) { file =>
    *   Task.uninterruptible(Files.writeString(file, "text")).void
    * } {
    *   case (file, Outcome.Succeeded(_)) => Task(Files.move(file, path)).void
    *   case (file, _) => Task(Files.delete(file))
    * }
    * }}}
    */
  def bracketCase[A, B](acquire: Task[A])(use: A => Task[B])(
      release: (A, Outcome[B]) => Task[Unit]
  ): Task[B] = Bracket(acquire, use, release)

  /** As `bracketCase`, but a cancel also reaches the part of `acquire` that is in the poll, such as
    * a wait before there is anything to release.
    * {{{
    * def withFree[A](free: Queue[Int])(use: Int => Task[A]): Task[A] =
    *   Task.bracketFull(poll => poll(free.take))(use)((number, _) => free.offer(number))
    * }}}
    */
  def bracketFull[A, B](acquire: Poll => Task[A])(use: A => Task[B])(
      release: (A, Outcome[B]) => Task[Unit]
  ): Task[B] = uncancelable { poll =>
    acquire(poll).flatMap(a => Guarantee(poll(Defer(() => use(a))), release(a, _)))
  }

  // ---- direct style ----

  /** What `body` returns: plain code that may `await` tasks, also in its loops, lambdas, `try` and
    * callbacks.
    *
    * **Cancelled**: at an `await`, and where the code blocks. Every `finally` runs, and what it
    * awaits is run masked; whatever the code does then, the fiber ends as cancelled. **Fails** with
    * what `body` throws.
    * {{{
    * val total: Task[Int] = Task.direct {
    *   var cents = 0
    *   for id <- ids do cents += ordersOf(id).await.map(_.cents).sum
    *   cents
    * }
    * }}}
    */
  def direct[A](body: Direct ?=> A): Task[A] = DirectBlock.run(body)

  /** The capability to call `await`: a method that takes it, `(using Task.Direct)`, may be called
    * in a `Task.direct`.
    */
  type Direct = DirectBlock

  // ---- if ----

  /** Runs `task` if `condition` is true.
    * {{{
    * val stored = Task(fetch(urls.head)).flatMap(text => Task.when(text.nonEmpty)(store(text)))
    * }}}
    */
  def when(condition: Boolean)(task: => Task[Any]): Task[Unit] =
    if condition then Defer(() => task).void else unit

  /** Runs `task` if `condition` is false.
    * {{{
    * val stored = Task.unless(dryRun)(store("text"))
    * }}}
    */
  def unless(condition: Boolean)(task: => Task[Any]): Task[Unit] = when(!condition)(task)

  /** Nothing. **Fails** with `error` if `condition` is true.
    * {{{
    * val named = load(id).flatTap(u => Task.raiseWhen(u.name.isEmpty)(Exception(s"no name: $id")))
    * }}}
    */
  def raiseWhen(condition: Boolean)(error: => Throwable): Task[Unit] =
    when(condition)(fail(error))

  /** Nothing. **Fails** with `error` if `condition` is false.
    * {{{
    * val token = login.flatTap(t => Task.raiseUnless(t.isValid)(Exception("no valid token")))
    * }}}
    */
  def raiseUnless(condition: Boolean)(error: => Throwable): Task[Unit] =
    when(!condition)(fail(error))

  // ---- from elsewhere ----

  /** The value on the right. **Fails** with the error on the left.
    * {{{
    * val number: Task[Int] = Task.fromEither(parse("7").toEither)
    * }}}
    */
  def fromEither[A](either: Either[Throwable, A]): Task[A] = either.fold(fail, pure)

  /** The value of a success. **Fails** with the error of a failure.
    * {{{
    * val number: Task[Int] = Task.fromTry(parse("7"))
    * }}}
    */
  def fromTry[A](result: Try[A]): Task[A] = result.fold(fail, pure)

  /** The value in `option`. **Fails** with `orElse` if there is none.
    * {{{
    * val present: Task[String] = Task.fromOption(name)(Exception("no name was present"))
    * }}}
    */
  def fromOption[A](option: Option[A])(orElse: => Throwable): Task[A] =
    option.fold(Defer(() => fail(orElse)): Task[A])(pure)

  /** The value of the future that `future` makes each time this task runs. **Cancelled**: stops
    * waiting.
    */
  def fromFuture[A](future: => Future[A]): Task[A] = FromFuture.future(() => future)

  /** The value of the stage that `stage` makes each time this task runs. **Cancelled**: cancels the
    * stage. **Fails** with the stage's error, out of its `CompletionException`.
    */
  def fromCompletionStage[A](stage: => CompletionStage[A]): Task[A] =
    FromFuture.completionStage(() => stage)
