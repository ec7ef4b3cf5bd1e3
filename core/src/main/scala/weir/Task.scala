package weir

import java.time.Instant
import java.util.concurrent.CompletionStage
import scala.concurrent.{ExecutionContext, Future}
import scala.concurrent.duration.{DurationLong, FiniteDuration}
import scala.util.Try
import weir.fiber.*
import weir.group.{ErrorHandler, Failures}
import weir.std.Cache
import weir.task.*
import weir.macros.{Missing, Movable}

/** A description of work that returns an `A`, fails with a `Throwable`, or is cancelled.
  *
  * Creating a task does nothing; `runSync` runs it. A task may be run any number of times, and does
  * its work anew each time. Any code in it may block: `Thread.sleep`, JDBC, sockets, locks, a
  * nested `runSync`.
  */
abstract class Task[+A] private[weir] (tag: Int) extends Node(tag):

  // ---- one after the other ----

  /** Runs this task and returns the result of `f` for its value. **Fails** with the error that this
    * task or `f` throws.
    * {{{
    * val length: Task[Int] = Task(Files.readString(path)).map(_.length)
    * }}}
    */
  final def map[B](f: A => B): Task[B] = fiber.Mapped(this, f)

  /** Runs this task, then the task that `f` returns for its value. Returns the value of the second
    * task. **Fails** with the error that either task or `f` throws.
    * {{{
    * val orders: Task[List[Order]] = load(id).flatMap(user => ordersOf(user.name.length))
    * }}}
    */
  final def flatMap[B](f: A => Task[B]): Task[B] = FlatMap(this, f)

  /** Runs this task and returns `value`. */
  final def as[B](value: B): Task[B] = map(_ => value)

  /** Runs this task and drops its value. */
  final def void: Task[Unit] = map(_ => ())

  /** Runs this task, then `next`, and returns the value of `next`. */
  final def andThen[B](next: => Task[B]): Task[B] = flatMap(_ => next)

  /** The same as `andThen`.
    * {{{
    * val started: Task[User] = Task(log("starting")) >> load(id)
    * }}}
    */
  final def >>[B](next: => Task[B]): Task[B] = flatMap(_ => next)

  /** Runs this task, then the task that `f` returns for its value. Returns the value of this task.
    */
  final def flatTap(f: A => Task[Any]): Task[A] = flatMap(a => f(a).as(a))

  /** Waits for `duration`, then runs this task. Blocks no thread while it waits.
    * {{{
    * def ping: Task[Unit] = Task(println("ping")).delayBy(1.second)
    * }}}
    */
  final def delayBy(duration: FiniteDuration): Task[A] = Task.sleep(duration).flatMap(_ => this)

  /** Runs this task and returns the time that it took, together with its value. The time is
    * measured by a clock that never goes back.
    * {{{
    * val lines = Task(Files.readAllLines(path)).timed.map((took, all) => s"${all.size} in $took")
    * }}}
    */
  final def timed: Task[(FiniteDuration, A)] =
    Task.monotonic.flatMap(start => flatMap(a => Task.monotonic.map(end => (end - start, a))))

  /** Runs this task and prints its outcome, after `label`, to the standard error. It is for
    * debugging.
    * {{{
    * val user = load(id).debug("user") // user: Succeeded(User(1))
    * }}}
    */
  final def debug(label: String = "task"): Task[A] =
    guaranteeCase(outcome => Task(System.err.println(s"$label: $outcome")))

  /** Runs this task again and again, in constant memory. Does not return. **Fails** as soon as this
    * task fails.
    */
  final def forever: Task[Nothing] = Forever(this)

  // ---- errors ----

  /** Returns this task's value as a `Right`, or its error as a `Left`.
    * {{{
    * val result: Task[Either[Throwable, User]] = load(id).attempt
    * }}}
    */
  final def attempt: Task[Either[Throwable, A]] = Attempt(this)

  /** Runs this task. If it fails, runs the task that `f` returns for the error, and returns the
    * value of that task. `f` is called for every error; to handle only some, use `recoverWith`.
    *
    * **Fails** with the error that `f` throws, or with the error of the task that it returns. The
    * error that `f` was called with is suppressed under that one.
    * {{{
    * val config = fromFile.handleErrorWith(error => Task(log(s"$error")) >> fromNetwork)
    * }}}
    */
  final def handleErrorWith[B >: A](f: Throwable => Task[B]): Task[B] =
    Handle(this, ErrorHandler(f))

  /** Runs this task. If it fails, returns the result of `f` for the error. **Fails** as
    * `handleErrorWith`.
    */
  final def handleError[B >: A](f: Throwable => B): Task[B] = handleErrorWith(e => Task.pure(f(e)))

  /** Runs this task. If it fails with an error for which `f` is defined, runs the task that `f`
    * returns, and returns the value of that task. **Fails** with any other error unchanged.
    * {{{
    * val text = Task(fetch(urls.head)).recoverWith {
    *   case _: IOException => Task(Files.readString(path))
    * }
    * }}}
    */
  final def recoverWith[B >: A](f: PartialFunction[Throwable, Task[B]]): Task[B] =
    handleErrorWith(error => f.applyOrElse(error, Task.fail))

  /** Runs this task. If it fails with an error for which `f` is defined, returns the result of `f`.
    * **Fails** with any other error unchanged.
    * {{{
    * val text = Task(fetch(urls.head)).recover { case _: IOException => "" }
    * }}}
    */
  final def recover[B >: A](f: PartialFunction[Throwable, B]): Task[B] =
    handleErrorWith(error => f.andThen[Task[B]](b => Task.pure(b)).applyOrElse(error, Task.fail))

  /** Returns this task's value as a `Some`, or `None` if it fails with any error.
    * {{{
    * val user: Task[Option[User]] = load(id).option
    * }}}
    */
  final def option: Task[Option[A]] = redeem(_ => None, Some(_))

  /** Returns the result of `onSuccess` for this task's value, or of `onFailure` for its error.
    * **Fails** with the error that either of them throws.
    * {{{
    * val shown: Task[String] = load(id).redeem(error => s"none: ${error.getMessage}", _.name)
    * }}}
    */
  final def redeem[B](onFailure: Throwable => B, onSuccess: A => B): Task[B] =
    attempt.map(_.fold(ErrorHandler(onFailure), onSuccess))

  /** Runs this task, then the task that `onSuccess` returns for its value, or `onFailure` for its
    * error. Returns the value of the second task. An error of `onSuccess` is not passed to
    * `onFailure`. In a `flatMap` followed by `handleErrorWith`, it would be.
    * {{{
    * val shown = load(id).redeemWith(_ => Task.pure(Nil), user => ordersOf(user.name.length))
    * }}}
    */
  final def redeemWith[B](onFailure: Throwable => Task[B], onSuccess: A => Task[B]): Task[B] =
    attempt.flatMap(_.fold(ErrorHandler(onFailure), onSuccess))

  /** Runs this task. If it fails, runs `other` and returns its value. **Fails** with the error of
    * `other`, under which that of this task is suppressed.
    * {{{
    * val config = fromFile.orElse(fromNetwork)
    * }}}
    */
  final def orElse[B >: A](other: => Task[B]): Task[B] =
    handleErrorWith(error => other.adaptError { case later => Failures.add(later, error) })

  /** Runs this task. If it fails with an error for which `f` is defined, runs the task that `f`
    * returns. **Fails** with this task's error, under which an error of that task is suppressed.
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

  /** Runs this task and returns its value. **Fails** with the error that `f` returns for this
    * task's error, or with that error itself if `f` is not defined for it.
    * {{{
    * val user = load(id).adaptError { case e: SQLException => UserNotFound(id, cause = e) }
    * }}}
    */
  final def adaptError(f: PartialFunction[Throwable, Throwable]): Task[A] =
    handleErrorWith(error => Task.fail(f.applyOrElse(error, identity)))

  /** Returns the value on the right of this task's value. **Fails** with the error on the left. It
    * is the opposite of `attempt`.
    * {{{
    * val number: Task[Int] = Task(parse("7").toEither).rethrow
    * }}}
    */
  final def rethrow[B](using either: A <:< Either[Throwable, B]): Task[B] =
    flatMap(a => Task.fromEither(either(a)))

  // ---- again ----

  /** Runs this task until it succeeds, and returns its value. After each failure, runs it again
    * after the delay that `schedule` gives.
    *
    * **Waits** between runs, without blocking a thread. **Cancelled** also while it waits.
    * **Fails** with the last error when the schedule stops. At most eight of the earlier errors are
    * suppressed under it: the first one and the latest ones. Errors that are alike count as one.
    * {{{
    * val page = Task(fetch(urls.head)).retry(Schedule.exponential(100.millis).times(5))
    * }}}
    */
  final def retry(schedule: Schedule[Throwable]): Task[A] = Retry(this, schedule).flatMap(identity)

  /** As `retry`, but only for errors for which `when` is true. **Fails** at once with any other
    * error.
    */
  final def retryWhen(schedule: Schedule[Throwable])(when: Throwable => Boolean): Task[A] =
    retry(schedule.whileInput(when))

  /** Runs this task, and after each success runs it again after the delay that `schedule` gives.
    * Returns the value of the last run.
    *
    * **Waits** between runs, without blocking a thread. **Cancelled** also while it waits.
    * **Fails** as soon as a run fails.
    */
  final def repeat(schedule: Schedule[A]): Task[A] = Repeat(this, schedule).flatMap(identity)

  /** As `repeat`, but only as long as `keep` is true for the value. Returns the first value for
    * which it is false.
    */
  final def repeatWhile(schedule: Schedule[A])(keep: A => Boolean): Task[A] =
    repeat(schedule.whileInput(keep))

  /** Runs this task again and again until `keep` is false for its value, and returns that value.
    * Runs it in constant memory and without a pause.
    * {{{
    * val line = Task(readLine()).iterateWhile(_.isBlank)
    * }}}
    */
  final def iterateWhile(keep: A => Boolean): Task[A] =
    flatMap(a => if keep(a) then iterateWhile(keep) else Task.pure(a))

  /** Runs this task again and again until `done` is true for its value, and returns that value: see
    * `iterateWhile`.
    * {{{
    * val answer = Task(readLine()).iterateUntil(line => line == "yes" || line == "no")
    * }}}
    */
  final def iterateUntil(done: A => Boolean): Task[A] = iterateWhile(a => !done(a))

  /** Runs this task `n` times, one run after the other, and returns the values. Returns an empty
    * list if `n` is not positive.
    * {{{
    * val three: Task[List[String]] = Task(readLine()).replicate(3)
    * }}}
    */
  final def replicate(n: Int): Task[List[A]] = Traverse(0 until n, _ => this)

  /** Returns a task that runs this one once and gives its value, or its error, to all callers. The
    * first caller starts the run.
    *
    * The run has the locals of the caller that starts it. **Waits** while it runs for another
    * caller. **Cancelled**: no other caller is affected. The run continues while at least one
    * caller waits for it. The cancel of the last caller cancels it, and waits for its finalizers. A
    * caller that comes after that starts a new run, possibly while those finalizers are running.
    * {{{
    * for
    *   token <- login.memoize
    *   _ <- Task.parTraverse(requests)(request => token.flatMap(send(request, _))) // one login
    * yield ()
    * }}}
    */
  final def memoize: Task[Task[A]] = Cache.memoize(this)

  // ---- cancellation and finalizers ----

  /** Runs this task. If it is cancelled while it runs, runs `finalizer` once, masked. */
  final def onCancel(finalizer: Task[Unit]): Task[A] = OnCancel(this, finalizer)

  /** Runs this task. However it ends, runs `finalizer` once, masked, before the next task.
    *
    * **Fails** with the error of this task, under which that of the finalizer is suppressed.
    * {{{
    * val user = load(id).guarantee(Task(log("over")))
    * }}}
    */
  final def guarantee(finalizer: Task[Unit]): Task[A] = guaranteeCase(_ => finalizer)

  /** As `guarantee`, but passes the outcome of this task to the finalizer. */
  final def guaranteeCase(finalizer: Outcome[A] => Task[Unit]): Task[A] =
    Guarantee(this, finalizer)

  /** Runs this task, then the task that `use` returns for its value. Returns the value of the
    * second task. Runs `release` for this task's value once, however `use` ends. This task (the
    * acquisition) and `release` are masked.
    * {{{
    * val first: Task[String] = Task(Files.newBufferedReader(path)).bracket(reader =>
    *   Task(reader.readLine())
    * )(reader => Task(reader.close()))
    * }}}
    */
  final def bracket[B](use: A => Task[B])(release: A => Task[Unit]): Task[B] =
    Task.bracket(this)(use)(release)

  /** As `bracket`, but also passes the outcome of `use` to `release`, for example to commit or to
    * roll back.
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

  /** Runs this task. A cancel runs `onCancel`, which should make this task end, and then cancels
    * this task as well. It is for code that another call ends:
    * `Task.uninterruptible(socket.read()).cancelable(Task(socket.close()))`.
    *
    * This task runs in a separate fiber, so a mask around it covers only the wait for it.
    * **Cancelled**: the cancel waits for `onCancel`, then for this task and its finalizers.
    */
  final def cancelable(onCancel: Task[Unit]): Task[A] = Cancelable(this, onCancel)

  /** Runs this task and returns its value. **Fails** with a `java.util.concurrent.TimeoutException`
    * if that takes longer than `limit`; then this task has been cancelled and its finalizers have
    * run. If it ends with a value in spite of the cancel, as masked code does, returns that value,
    * however late.
    * {{{
    * val user = load(id).timeout(2.seconds)
    * }}}
    */
  final def timeout(limit: FiniteDuration): Task[A] = Timeout(this, limit)

  /** Runs this task and returns its value. If that takes longer than `limit`, runs `fallback` and
    * returns its value; by then, this task has been cancelled and its finalizers have run.
    * {{{
    * val text = Task(fetch(urls.head)).timeoutTo(2.seconds, Task(Files.readString(path)))
    * }}}
    */
  final def timeoutTo[B >: A](limit: FiniteDuration, fallback: Task[B]): Task[B] =
    Timeout.orElse(this, limit, fallback)

  /** As `timeout`, but at the limit it cancels this task and does not wait for it. It is for code
    * that ignores interrupts, or has finalizers that may take long. The task is then abandoned: it
    * continues until it ends by itself. Then its finalizers run, and its value is dropped.
    * `WeirRuntime.abandonedTasks` counts it until it has ended. It keeps the resources that it
    * holds and, if it computes, its carrier too.
    *
    * **Cancelled**: cancels this task and waits for its finalizers, at most until the limit.
    * **Fails** with a `java.util.concurrent.TimeoutException` at the limit.
    */
  final def timeoutAbandon(limit: FiniteDuration): Task[A] = TimeoutAbandon(this, limit)

  // ---- with another one, concurrently ----

  /** Runs both tasks concurrently and returns both values. **Fails** as soon as one of them fails,
    * once the other has been cancelled.
    * {{{
    * val page: Task[(User, List[Order])] = load(id).both(ordersOf(id))
    * }}}
    */
  final def both[B](other: Task[B]): Task[(A, B)] = Task.both(this, other)

  /** Runs both tasks concurrently and returns the value of the one that ends first, once the other
    * has been cancelled. **Fails** if the first one to end fails.
    * {{{
    * val first: Task[Either[String, String]] = ask("a.example").race(ask("b.example"))
    * }}}
    */
  final def race[B](other: Task[B]): Task[Either[A, B]] = Task.race(this, other)

  // ---- fibers ----

  /** Starts a new fiber that runs this task, and returns the fiber. Once `start` has returned, a
    * cancel of the fiber always runs the finalizers at the head of this task. A `join` returns its
    * error. If the fiber is never joined, its error is printed once no `join` is possible any more.
    * {{{
    * val both = for
    *   fiber <- load(id).start
    *   orders <- ordersOf(id)
    *   user <- fiber.joinOrFail
    * yield (user, orders)
    * }}}
    */
  final def start: Task[Fiber[A]] = Start(this, isReported = true)

  /** Returns a fiber that runs this task while the resource is in use. At the end of the use, the
    * fiber is cancelled, and the cancel waits for its finalizers. A `join` returns its error, which
    * cancels no other fiber. If an error must do that, use `Scope.run`.
    * {{{
    * val user = Task(log("still at it")).delayBy(1.second).forever.background.use(_ => load(id))
    * }}}
    */
  final def background: Resource[Fiber[A]] = Resource.make(start)(_.cancel)

  /** Starts a new fiber that runs this task to its end, and returns the fiber. As with `start`,
    * nothing waits for it or cancels it. Its error is printed at once, because it may never be
    * joined. If something should wait for it or cancel it, use `Scope`, `background` or
    * `Supervisor`.
    */
  final def startDaemon: Task[Fiber[A]] = Start(
    handleErrorWith(error => Task.onRuntime(_.report("a daemon", error)).andThen(Task.fail(error))),
    isReported = false
  )

  // ---- execution contexts ----

  /** Runs this task on the threads of `context`: its steps, and those of the fibers that it starts.
    * It is for code that must run on a given thread, such as that of a user interface. Blocking
    * code needs no context.
    *
    * When this task has ended, however it ends, the fiber returns to the threads that ran it
    * before. A step runs on a worker of the runtime if the context runs code in place, on the
    * thread that submits it (`ExecutionContext.parasitic`), or if it rejects the code. If a context
    * accepts a step and never runs it, the fiber never continues. A pool that is shut down may do
    * so.
    *
    * A stream in this task occupies no thread of `context` while it waits: a worker runs its loop,
    * and `context` runs each of its effects. Plain functions of such a stream, as those of `map`,
    * run on the worker. A collection or an `unfold` with steps such as `map` and without effects
    * runs on `context`. Code of a `Task.direct` runs on `context` too, and blocks its thread while
    * it awaits. On a pool that cannot grow, such as a pool of one thread, this code must not await
    * anything that needs another thread of the pool.
    *
    * If a stream or a `Task.direct` awaits this task, another fiber runs it on `context`. That
    * fiber is cancelled with the one that waits, and has the same masks and locals.
    * {{{
    * val context = scala.concurrent.ExecutionContext.global
    * val name = Task(Thread.currentThread.getName).evalOn(context)
    * }}}
    */
  final def evalOn(context: ExecutionContext): Task[A] = EvalOn(this, context)

  // ---- direct style ----

  /** Runs this task in place, on the fiber that runs the enclosing `Task.direct`, and returns its
    * value.
    *
    * **Waits** by blocking the virtual thread of the block. **Cancelled**: ends the block as an
    * exception would, but neither `case _: Exception` nor `NonFatal` catches it. **Fails** with the
    * task's error. Fails with an `IllegalStateException` if it is not called by the block's own
    * code: on another thread, after the end of the block, or in a function that was passed to a
    * task.
    */
  final def await(using direct: Task.Direct): A = direct.await(this)

  // ---- running ----

  /** Runs this task and returns its value. The task runs on the calling thread until it first
    * suspends; then the thread blocks.
    *
    * May be called anywhere, at any depth, also inside of tasks. **Cancelled**: an interrupt of the
    * calling thread cancels the task, waits for its finalizers, and throws `InterruptedException`.
    * **Fails** with the error of the task, or with a `java.util.concurrent.CancellationException`
    * if the task cancels itself.
    * {{{
    * val user: User = load(id).runSync()
    * }}}
    */
  final def runSync()(using runtime: WeirRuntime): A = RunSync(this, runtime)

  /** Starts this task on a separate fiber and returns a function that cancels it. Calls `callback`
    * once with the outcome, on the thread on which the fiber ends. `callback` should not block for
    * long.
    */
  final def runAsync(callback: Outcome[A] => Unit)(using runtime: WeirRuntime): () => Unit =
    RunAsync(this, callback, runtime)

  /** As `runAsync`, but the task begins on the calling thread. It leaves that thread where it first
    * suspends or yields, before a stream or a `Task.direct`, and after a stack overflow. A task
    * that does none of these usually has ended, and `ended` has been called, when this method
    * returns. On a thread that runs a task already, and with a runtime that runs all tasks on its
    * own threads, as the one of the test kit does, it begins as with `runAsync`.
    *
    * Calls `begins` with the function that cancels, just before the task begins. If `begins`
    * throws, so does this method: the task never begins, and `ended` is never called.
    *
    * This method is for the thread of an event loop that starts many short tasks, and spares a
    * hand-over for each. Code of the task that blocks before the first suspension blocks the
    * calling thread. An interrupt of that thread is an error of the code that blocks there, and
    * cancels nothing. The interrupt flag of the thread is cleared before the task begins, and again
    * when this method returns.
    */
  final def runAsyncHere(begins: (() => Unit) => Unit)(ended: Outcome[A] => Unit)(using
      runtime: WeirRuntime
  ): Unit = RunAsync.here(this, begins, ended, runtime)

  /** Starts this task and returns a future of its value. If the task is cancelled, the future fails
    * with a `java.util.concurrent.CancellationException`.
    */
  final def toFuture()(using runtime: WeirRuntime): Future[A] = RunAsync.toFuture(this, runtime)

  /** Starts this task and returns a stage that completes with its value. Cancelling the stage's
    * `toCompletableFuture` cancels the task.
    */
  final def toCompletionStage[B >: A]()(using runtime: WeirRuntime): CompletionStage[B] =
    RunAsync.toCompletionStage(this, runtime)

object Task extends TaskCollections:

  /** This is not an instance. The compiler shows its name if an instance of a type class of Cats or
    * Cats Effect is missing: add `weir-cats` and `import weir.interop.cats.given`.
    */
  transparent inline given `with weir-cats: import weir.interop.cats.given`[F[_[_]]]: F[Task] =
    ${ Missing.none[F[Task]] }

  /** Returns `value`. */
  def pure[A](value: A): Task[A] = Pure(value)

  /** Does nothing. */
  val unit: Task[Unit] = Pure(())

  /** Fails with `error`. */
  def fail(error: Throwable): Task[Nothing] = Fail(error)

  /** Evaluates `thunk` each time the task runs, and returns its value. `thunk` may block. **Fails**
    * with the error that it throws. **Cancelled** while it blocks: its thread is interrupted.
    */
  inline def delay[A](inline thunk: A): Task[A] =
    inline if Movable(thunk) then
      new Delay[A]:
        def run(): Any = thunk
    else Thunk[A](() => thunk)

  /** The same as `delay`. It does not call `delay`, because each level of inlining costs the
    * compiler time and stack.
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
    * **Cancelled**: waits until `thunk` has returned. A cancel does not interrupt the functions of
    * `map` and `flatMap` that follow directly either; they should not block.
    * {{{
    * val stored = Task.uninterruptible(Files.writeString(path, "text"))
    * }}}
    */
  def uninterruptible[A](thunk: => A): Task[A] = Uninterruptible(() => thunk)

  /** As `delay`, but for code that swallows interrupts: a cancel interrupts its thread again and
    * again, with pauses of 1 to 16 ms, until `thunk` has returned. `thunk` runs in a separate
    * fiber.
    *
    * **Cancelled**: waits until `thunk` has returned. Its value is lost.
    * {{{
    * val text = Task.interruptibleMany(Files.readString(path))
    * }}}
    */
  def interruptibleMany[A](thunk: => A): Task[A] = InterruptibleMany(() => thunk)

  /** Evaluates `thunk` on a thread of the operating system and returns its value. It is for native
    * code, which would occupy a carrier for as long as it blocks. Other code gains nothing from it.
    * Each running call has a separate thread.
    *
    * **Cancelled**: interrupts that thread, and waits until `thunk` has returned. **Fails** with
    * the error that `thunk` throws.
    */
  def onPlatformThread[A](thunk: => A): Task[A] = OnPlatformThread(() => thunk)

  /** As `onPlatformThread`, but for a call that nothing ends: a cancel does not wait for it. Must
    * run in the `uncancelable` of `poll`, so that the value is not lost. A value that arrives after
    * a cancel is passed to `late`.
    */
  private[weir] def abandonable[A](poll: Poll)(thunk: => A)(late: A => Unit): Task[A] =
    AbandonableCall(poll, () => thunk, late)

  /** Evaluates `task` each time it runs, runs the result, and returns its value. */
  def defer[A](task: => Task[A]): Task[A] = Defer(() => task)

  /** Calls `register` with a callback, waits until that is called, and returns the value that it
    * was called with. Further calls of the callback are ignored.
    *
    * **Cancelled**: stops waiting, and ignores the callback from then on. If a cancel must also
    * stop the operation, use `asyncCancelable`. `register` itself is masked, and should return
    * soon. **Fails** with the error that the callback was called with.
    */
  def async[A](register: (Either[Throwable, A] => Unit) => Unit): Task[A] =
    Async { callback =>
      register(callback)
      null
    }

  /** As `async`, but `register` returns a task that runs when the wait is cancelled. The cancel
    * waits for that task.
    */
  def asyncCancelable[A](register: (Either[Throwable, A] => Unit) => Task[Unit]): Task[A] =
    Async(register)

  /** As `async`, but a cancel does not end the wait. It is for a callback whose value must not be
    * lost and that comes soon. **Cancelled**: waits for the callback. `register` is masked too.
    * {{{
    * val answer = Task.asyncUncancelable[String](callback => request(callback))
    * }}}
    */
  def asyncUncancelable[A](register: (Either[Throwable, A] => Unit) => Unit): Task[A] =
    AsyncUncancelable(register)

  /** As `asyncCancelable`, but a task registers the callback, and that task may return the result
    * at once, as a `Right`. Otherwise it returns a `Left` with the task that runs when the wait is
    * cancelled, or with `None` for a wait that no cancel ends. It is Cats Effect's method of that
    * name.
    *
    * **Waits** until the callback is called, unless the registration has answered. **Cancelled**:
    * the registration is masked. A cancel of the wait runs the task that the registration has
    * returned, and waits for that. If a value has arrived by then, it is the result. **Fails** with
    * the error of the registration, or of the callback.
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

  /** Never ends. It can be cancelled. */
  val never: Task[Nothing] = Never

  /** Waits for `duration` from the time it runs. Returns at once if `duration` is not positive.
    * Blocks no thread.
    * {{{
    * val later = Task.sleep(1.second) >> Task(log("a second later"))
    * }}}
    */
  def sleep(duration: FiniteDuration): Task[Unit] = Sleep(duration.toNanos)

  /** Returns the time since an arbitrary moment, by a clock that never goes back. It is for
    * measuring how long something takes.
    */
  val monotonic: Task[FiniteDuration] = onRuntime(runtime => runtime.timers.nanoTime.nanos)

  /** Returns the time of day. */
  val realTime: Task[Instant] = onRuntime(_.timers.realTime)

  /** Returns the execution context that runs the steps of this fiber: that of the enclosing
    * `evalOn`, or that of its runtime.
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

  private[weir] def onRuntime[A](f: WeirRuntime => A): Task[A] = new Suspend[A]:
    def begin(fiber: TaskFiber): Any = f(fiber.runtime)

  /** Yields to other fibers if any are queued. On a platform thread that has called `runSync`,
    * which occupies no carrier, it does nothing.
    */
  val cede: Task[Unit] = Cede

  /** Cancels the fiber that runs it. Inside of `uncancelable`, the fiber continues until the first
    * task after that.
    */
  val canceled: Task[Unit] = CancelSelf

  /** Runs the task that `body` returns, masked, and returns its value. A cancel waits until the
    * first task after it, or until a task that the poll has unmasked. If nothing follows it, the
    * fiber ends with its value, even if it was cancelled meanwhile.
    * {{{
    * val moved = Task.uncancelable(poll => poll(load(id)).flatMap(user => store(user.name)))
    * }}}
    */
  def uncancelable[A](body: Poll => Task[A]): Task[A] = Uncancelable(body)

  /** Runs `acquire`, then the task that `use` returns for its value. Returns the value of the
    * second task. Runs `release` for the value of `acquire` once, however `use` ends. `acquire` and
    * `release` are masked.
    */
  def bracket[A, B](acquire: Task[A])(use: A => Task[B])(release: A => Task[Unit]): Task[B] =
    Bracket(acquire, use, (a, _) => release(a))

  /** As `bracket`, but also passes the outcome of `use` to `release`.
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

  /** Runs `body` and returns its value. `body` is plain code that may `await` tasks, also in its
    * loops, lambdas, `try` and callbacks.
    *
    * **Cancelled** at an `await`, and where the code blocks. Every `finally` runs, and the tasks
    * that it awaits run masked. Whatever the code does then, the fiber ends as cancelled. **Fails**
    * with the error that `body` throws.
    * {{{
    * val total: Task[Int] = Task.direct {
    *   var cents = 0
    *   for id <- ids do cents += ordersOf(id).await.map(_.cents).sum
    *   cents
    * }
    * }}}
    */
  def direct[A](body: Direct ?=> A): Task[A] = DirectBlock.run(body)

  /** The capability to call `await`. A method that takes it, `(using Task.Direct)`, may be called
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

  /** Does nothing. **Fails** with `error` if `condition` is true.
    * {{{
    * val named = load(id).flatTap(u => Task.raiseWhen(u.name.isEmpty)(Exception(s"no name: $id")))
    * }}}
    */
  def raiseWhen(condition: Boolean)(error: => Throwable): Task[Unit] =
    when(condition)(fail(error))

  /** Does nothing. **Fails** with `error` if `condition` is false.
    * {{{
    * val token = login.flatTap(t => Task.raiseUnless(t.isValid)(Exception("no valid token")))
    * }}}
    */
  def raiseUnless(condition: Boolean)(error: => Throwable): Task[Unit] =
    when(!condition)(fail(error))

  // ---- from elsewhere ----

  /** Returns the value on the right. **Fails** with the error on the left.
    * {{{
    * val number: Task[Int] = Task.fromEither(parse("7").toEither)
    * }}}
    */
  def fromEither[A](either: Either[Throwable, A]): Task[A] = either.fold(fail, pure)

  /** Returns the value of a success. **Fails** with the error of a failure.
    * {{{
    * val number: Task[Int] = Task.fromTry(parse("7"))
    * }}}
    */
  def fromTry[A](result: Try[A]): Task[A] = result.fold(fail, pure)

  /** Returns the value in `option`. **Fails** with `orElse` if there is none.
    * {{{
    * val present: Task[String] = Task.fromOption(name)(Exception("no name was present"))
    * }}}
    */
  def fromOption[A](option: Option[A])(orElse: => Throwable): Task[A] =
    option.fold(Defer(() => fail(orElse)): Task[A])(pure)

  /** Evaluates `future` each time this task runs, and returns the value of the result.
    * **Cancelled**: stops waiting.
    */
  def fromFuture[A](future: => Future[A]): Task[A] = FromFuture.future(() => future)

  /** Evaluates `stage` each time this task runs, and returns the value of the result.
    * **Cancelled**: cancels the stage. **Fails** with the stage's error, unwrapped from its
    * `CompletionException`.
    */
  def fromCompletionStage[A](stage: => CompletionStage[A]): Task[A] =
    FromFuture.completionStage(() => stage)
