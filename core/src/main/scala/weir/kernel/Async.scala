package weir.kernel

import weir.Task

/** Waits for a callback. The waiter is the callback. */
private[weir] final class Async[A](
    register: (Either[Throwable, A] => Unit) => Task[Unit] | Null
) extends Suspend[A]:

  def begin(fiber: RunLoop): Any =
    val callback = AsyncWaiter[A](fiber)
    fiber.runtime.waitsOutside(callback)
    // No interrupt may hit the registration: it is user's code that may hold something already.
    fiber.masked { callback.hook = register(callback) }
    callback

private final class AsyncWaiter[A](fiber: RunLoop)
    extends Waiter(fiber),
      (Either[Throwable, A] => Unit):
  private[kernel] var hook: Task[Unit] | Null = null

  /** Later calls than the first are ignored. */
  def apply(result: Either[Throwable, A]): Unit = result match
    case Right(value) => complete(value): Unit
    case Left(error) => fail(error): Unit

  override def cancelHook: Task[Unit] | Null = hook
