package weir.cats

import _root_.cats.arrow.FunctionK
import _root_.cats.effect.kernel
import _root_.cats.effect.kernel.{Async, Cont, Sync}
import scala.concurrent.ExecutionContext
import scala.concurrent.duration.{DurationLong, FiniteDuration}
import weir.{Callback, Task}

/** Cats Effect's `Async` over the API of `Task`. */
private[cats] object TaskAsync extends Async[Task]:

  // ---- monad, errors ----

  def pure[A](value: A): Task[A] = Task.pure(value)
  override def unit: Task[Unit] = Task.unit
  override def map[A, B](task: Task[A])(f: A => B): Task[B] = task.map(f)
  def flatMap[A, B](task: Task[A])(f: A => Task[B]): Task[B] = task.flatMap(f)
  override def as[A, B](task: Task[A], value: B): Task[B] = task.as(value)
  override def void[A](task: Task[A]): Task[Unit] = task.void

  def tailRecM[A, B](a: A)(f: A => Task[Either[A, B]]): Task[B] =
    f(a).flatMap {
      case Left(next) => tailRecM(next)(f)
      case Right(b) => Task.pure(b)
    }

  def raiseError[A](error: Throwable): Task[A] = Task.fail(error)
  def handleErrorWith[A](task: Task[A])(f: Throwable => Task[A]): Task[A] =
    task.handleErrorWith(f)
  override def attempt[A](task: Task[A]): Task[Either[Throwable, A]] = task.attempt

  // ---- synchronous code ----

  override def delay[A](thunk: => A): Task[A] = Task.uninterruptible(thunk)

  def suspend[A](hint: Sync.Type)(thunk: => A): Task[A] = hint match
    case Sync.Type.Delay | Sync.Type.Blocking => Task.uninterruptible(thunk)
    case Sync.Type.InterruptibleOnce | Sync.Type.InterruptibleMany => Task.delay(thunk)

  override def defer[A](task: => Task[A]): Task[A] = Task.uninterruptible(task).flatMap(identity)

  // ---- cancellation ----

  def forceR[A, B](first: Task[A])(second: Task[B]): Task[B] =
    first.void.handleError(_ => ()).flatMap(_ => second)

  def uncancelable[A](body: kernel.Poll[Task] => Task[A]): Task[A] =
    Task.uncancelable(poll => body(PollView(poll)))

  val canceled: Task[Unit] = Task.canceled
  def onCancel[A](task: Task[A], finalizer: Task[Unit]): Task[A] = task.onCancel(finalizer)

  // ---- fibers ----

  def start[A](task: Task[A]): Task[kernel.Fiber[Task, Throwable, A]] =
    task.start.map(TaskFiberView(_))

  override def never[A]: Task[A] = Task.never
  val cede: Task[Unit] = Task.cede

  def ref[A](a: A): Task[kernel.Ref[Task, A]] = Task.delay(kernel.Ref.unsafe[Task, A](a))
  def deferred[A]: Task[kernel.Deferred[Task, A]] =
    Task.delay(kernel.Deferred.unsafe[Task, A])

  // ---- time ----

  protected def sleep(duration: FiniteDuration): Task[Unit] = Task.sleep(duration)
  val monotonic: Task[FiniteDuration] = Task.monotonic
  val realTime: Task[FiniteDuration] =
    Task.realTime.map(now => (now.getEpochSecond * 1_000_000_000L + now.getNano).nanos)

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

  def evalOn[A](task: Task[A], context: ExecutionContext): Task[A] = task
  val executionContext: Task[ExecutionContext] = Task.pure(ExecutionContext.global)
