package weir.interop.cats

import _root_.cats.arrow.FunctionK
import _root_.cats.effect.kernel
import _root_.cats.effect.kernel.{Async, Cont, Sync, Unique}
import _root_.cats.{Foldable, Traverse}
import java.util.concurrent.TimeoutException
import scala.concurrent.duration.{DurationLong, FiniteDuration}
import scala.concurrent.ExecutionContext
import weir.{Callback, Task}

/** Cats Effect's `Async` for tasks.
  *
  * Operations that `Task` has are not derived but call `Task`. Where the two libraries differ in
  * meaning, Cats Effect's applies: `delay` is not interrupted, `race` ends with the first outcome,
  * `async` without a finalizer cannot be cancelled.
  */
private[cats] object TaskAsync extends Async[Task]:

  // ---- monad ----

  def pure[A](value: A): Task[A] = Task.pure(value)
  override def unit: Task[Unit] = Task.unit
  override def map[A, B](task: Task[A])(f: A => B): Task[B] = task.map(f)
  def flatMap[A, B](task: Task[A])(f: A => Task[B]): Task[B] = task.flatMap(f)
  override def as[A, B](task: Task[A], value: B): Task[B] = task.as(value)
  override def void[A](task: Task[A]): Task[Unit] = task.void
  override def productR[A, B](first: Task[A])(second: Task[B]): Task[B] =
    first.flatMap(_ => second)
  override def productL[A, B](first: Task[A])(second: Task[B]): Task[A] =
    first.flatMap(a => second.as(a))
  override def map2[A, B, C](first: Task[A], second: Task[B])(f: (A, B) => C): Task[C] =
    first.flatMap(a => second.map(f(a, _)))
  override def flatTap[A, B](task: Task[A])(f: A => Task[B]): Task[A] = task.flatTap(f)
  override def replicateA_[A](n: Int, task: Task[A]): Task[Unit] =
    if n <= 0 then Task.unit else task.flatMap(_ => replicateA_(n - 1, task))

  def tailRecM[A, B](a: A)(f: A => Task[Either[A, B]]): Task[B] =
    f(a).flatMap {
      case Left(next) => tailRecM(next)(f)
      case Right(b) => Task.pure(b)
    }

  // ---- errors ----

  def raiseError[A](error: Throwable): Task[A] = Task.fail(error)
  def handleErrorWith[A](task: Task[A])(f: Throwable => Task[A]): Task[A] =
    task.handleErrorWith(f)
  override def attempt[A](task: Task[A]): Task[Either[Throwable, A]] = task.attempt
  override def redeem[A, B](task: Task[A])(onError: Throwable => B, onValue: A => B): Task[B] =
    task.redeem(onError, onValue)
  override def redeemWith[A, B](
      task: Task[A]
  )(onError: Throwable => Task[B], onValue: A => Task[B]): Task[B] =
    task.redeemWith(onError, onValue)
  override def fromEither[A](either: Either[Throwable, A]): Task[A] = Task.fromEither(either)

  // ---- plain code ----

  override def delay[A](thunk: => A): Task[A] = Task.uninterruptible(thunk)
  override def blocking[A](thunk: => A): Task[A] = Task.uninterruptible(thunk)
  override def interruptible[A](thunk: => A): Task[A] = interruptedOnce(() => thunk)
  override def interruptibleMany[A](thunk: => A): Task[A] = Task.interruptibleMany(thunk)

  def suspend[A](hint: Sync.Type)(thunk: => A): Task[A] = hint match
    case Sync.Type.Delay | Sync.Type.Blocking => Task.uninterruptible(thunk)
    case Sync.Type.InterruptibleOnce => interruptedOnce(() => thunk)
    case Sync.Type.InterruptibleMany => Task.interruptibleMany(thunk)

  /** Runs `thunk`, which a cancel interrupts once. `flatMap` does not call its function in a
    * cancelled fiber, so code that has swallowed the interrupt ends cancelled, and not with a
    * value.
    */
  private def interruptedOnce[A](thunk: () => A): Task[A] = Task.delay(thunk()).flatMap(Task.pure)

  override def defer[A](task: => Task[A]): Task[A] =
    Task.uninterruptible(task).flatMap(identity)

  override val unique: Task[Unique.Token] = Task.uninterruptible(new Unique.Token())

  // ---- cancellation ----

  def forceR[A, B](first: Task[A])(second: Task[B]): Task[B] =
    first.attempt.flatMap(_ => second)

  def uncancelable[A](body: kernel.Poll[Task] => Task[A]): Task[A] =
    Task.uncancelable(poll => body(PollView(poll)))

  val canceled: Task[Unit] = Task.canceled
  def onCancel[A](task: Task[A], finalizer: Task[Unit]): Task[A] = task.onCancel(finalizer)

  override def guarantee[A](task: Task[A], finalizer: Task[Unit]): Task[A] =
    task.guaranteeCase(_ => finalizer)
  override def guaranteeCase[A](
      task: Task[A]
  )(finalizer: kernel.Outcome[Task, Throwable, A] => Task[Unit]): Task[A] =
    task.guaranteeCase(outcome => finalizer(Outcomes.toCats(outcome)))

  override def bracket[A, B](acquire: Task[A])(use: A => Task[B])(
      release: A => Task[Unit]
  ): Task[B] = Task.bracket(acquire)(use)(release)

  // ---- fibers ----

  def start[A](task: Task[A]): Task[kernel.Fiber[Task, Throwable, A]] =
    task.start.map(TaskFiberView(_))

  override def never[A]: Task[A] = Task.never
  val cede: Task[Unit] = Task.cede

  override def racePair[A, B](left: Task[A], right: Task[B]): Task[
    Either[
      (kernel.Outcome[Task, Throwable, A], kernel.Fiber[Task, Throwable, B]),
      (kernel.Fiber[Task, Throwable, A], kernel.Outcome[Task, Throwable, B])
    ]
  ] =
    Task.racePair(left, right).map {
      case Left((outcome, other)) => Left((Outcomes.toCats(outcome), TaskFiberView(other)))
      case Right((other, outcome)) => Right((TaskFiberView(other), Outcomes.toCats(outcome)))
    }

  override def race[A, B](left: Task[A], right: Task[B]): Task[Either[A, B]] =
    Task.raceFirst(left, right)
  override def both[A, B](left: Task[A], right: Task[B]): Task[(A, B)] = Task.both(left, right)

  def ref[A](a: A): Task[kernel.Ref[Task, A]] =
    Task.uninterruptible(kernel.Ref.unsafe[Task, A](a)(using this))
  def deferred[A]: Task[kernel.Deferred[Task, A]] =
    Task.uninterruptible(DeferredView(weir.Deferred.unsafe[A]))

  override def parTraverseN[T[_]: Traverse, A, B](n: Int)(items: T[A])(
      f: A => Task[B]
  ): Task[T[B]] =
    requireParallelism(n)
    Task
      .parTraverseN(n)(Traverse[T].toList(items))(f)
      .map(values => InOrder(items, values))
  override def parTraverseN_[T[_]: Foldable, A, B](n: Int)(items: T[A])(
      f: A => Task[B]
  ): Task[Unit] =
    requireParallelism(n)
    Task.parForeachN(n)(Foldable[T].toList(items))(f(_).void)

  private def requireParallelism(n: Int): Unit =
    require(n >= 1, s"parTraverseN: the parallelism was $n. It must be at least 1.")

  // ---- time ----

  protected def sleep(duration: FiniteDuration): Task[Unit] = Task.sleep(duration)
  val monotonic: Task[FiniteDuration] = Task.monotonic
  val realTime: Task[FiniteDuration] =
    Task.realTime.map(now => (now.getEpochSecond * 1_000_000_000L + now.getNano).nanos)

  override protected def timeout[A](task: Task[A], limit: FiniteDuration)(implicit
      error: TimeoutException <:< Throwable
  ): Task[A] =
    timeoutTo(task, limit, Task.defer(Task.fail(error(TimeoutException(limit.toString)))))
  override def timeoutTo[A](task: Task[A], limit: FiniteDuration, fallback: Task[A]): Task[A] =
    task.timeoutTo(limit, fallback)

  // ---- callbacks ----

  override def async[A](
      register: (Either[Throwable, A] => Unit) => Task[Option[Task[Unit]]]
  ): Task[A] = Task.asyncCheckAttempt(callback => register(callback).map(Left(_)))

  override def async_[A](register: (Either[Throwable, A] => Unit) => Unit): Task[A] =
    Task.asyncUncancelable(register)

  override def asyncCheckAttempt[A](
      register: (Either[Throwable, A] => Unit) => Task[Either[Option[Task[Unit]], A]]
  ): Task[A] = Task.asyncCheckAttempt(register)

  def cont[K, R](body: Cont[Task, K, R]): Task[R] =
    Callback[K].flatMap(callback =>
      body[Task](using this)(callback, callback.get, FunctionK.id[Task])
    )

  // ---- execution contexts ----

  def evalOn[A](task: Task[A], context: ExecutionContext): Task[A] = task.evalOn(context)
  val executionContext: Task[ExecutionContext] = Task.executionContext
