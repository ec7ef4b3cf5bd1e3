package weir.fiber

import weir.Task

/** Waits for a callback. The waiter is the callback. */
private[weir] final class Async[A](
    register: (Either[Throwable, A] => Unit) => Task[Unit] | Null
) extends Suspend[A]:

  def begin(fiber: TaskFiber): Any =
    val callback = AsyncWaiter[A](fiber)
    fiber.runtime.waitsOutside(callback)
    // No interrupt may hit the registration: that is the user's code, which may hold a resource
    // already.
    fiber.masked { callback.hook = register(callback) }
    callback

private final class AsyncWaiter[A](fiber: TaskFiber)
    extends Waiter(fiber),
      (Either[Throwable, A] => Unit):
  private[fiber] var hook: Task[Unit] | Null = null

  /** Calls after the first are ignored. */
  def apply(result: Either[Throwable, A]): Unit = result match
    case Right(value) => complete(value): Unit
    case Left(error) => fail(error): Unit

  override def cancelHook: Task[Unit] | Null = hook
