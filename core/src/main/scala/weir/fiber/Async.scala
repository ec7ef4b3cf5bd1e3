package weir.fiber

import weir.Task

/** Waits for a callback. */
private[weir] final class Async[A](
    register: (Either[Throwable, A] => Unit) => Task[Unit] | Null
) extends Suspend[A],
      RunsUserCode:

  def begin(fiber: TaskFiber): Any =
    val waiter = AsyncWaiter(fiber)
    fiber.runtime.waitsOutside(waiter)
    // No interrupt may hit the registration: that is the user's code, which may hold a resource
    // already.
    fiber.masked { waiter.hook = register(AsyncCallback(waiter)) }
    waiter

private[fiber] final class AsyncWaiter(fiber: TaskFiber) extends Waiter(fiber):
  private[fiber] var hook: Task[Unit] | Null = null

  override def cancelHook: Task[Unit] | Null = hook

  /** Returns the task that waits. */
  private[fiber] def await: Task[Any] = new Suspend[Any]:
    def begin(fiber: TaskFiber): Any = AsyncWaiter.this

/** The callback that user code gets. It is not the waiter itself: if user code passed the waiter
  * through a `Deferred`, a fiber that takes it out would mistake it for a wait of its own.
  */
private[fiber] final class AsyncCallback[A](waiter: Waiter) extends (Either[Throwable, A] => Unit):

  /** Ends the wait. Calls after the first are ignored. */
  def apply(result: Either[Throwable, A]): Unit = result match
    case Right(value) => waiter.complete(value): Unit
    case Left(error) => waiter.fail(error): Unit
