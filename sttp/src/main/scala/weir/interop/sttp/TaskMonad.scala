package weir.interop.sttp

import _root_.sttp.monad.{Canceler, MonadAsyncError}
import weir.Task

/** The operations of tasks for sttp and tapir, which are written against `MonadError`. */
given taskMonad: MonadAsyncError[Task] = TaskMonad

private object TaskMonad extends MonadAsyncError[Task]:
  def unit[A](value: A): Task[A] = Task.pure(value)
  def map[A, B](task: Task[A])(f: A => B): Task[B] = task.map(f)
  def flatMap[A, B](task: Task[A])(f: A => Task[B]): Task[B] = task.flatMap(f)
  def error[A](error: Throwable): Task[A] = Task.fail(error)
  def ensure[A](task: Task[A], finalizer: => Task[Unit]): Task[A] =
    task.guarantee(Task.defer(finalizer))

  override def ensure2[A](task: => Task[A], finalizer: => Task[Unit]): Task[A] =
    ensure(Task.defer(task), finalizer)

  override def eval[A](code: => A): Task[A] = Task.delay(code)
  override def blocking[A](code: => A): Task[A] = Task.delay(code)
  override def suspend[A](task: => Task[A]): Task[A] = Task.defer(task)

  /** Waits until the callback is called. **Cancelled**: calls the canceler. */
  def async[A](register: (Either[Throwable, A] => Unit) => Canceler): Task[A] =
    Task.asyncCancelable { done =>
      val canceler = register(done)
      Task.delay(canceler.cancel())
    }

  override protected def handleWrappedError[A](task: Task[A])(
      handler: PartialFunction[Throwable, Task[A]]
  ): Task[A] = task.recoverWith(handler)
