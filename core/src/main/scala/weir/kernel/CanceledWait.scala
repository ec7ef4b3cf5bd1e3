package weir.kernel

import weir.Task

/** What follows a wait that a cancel has ended: its hook, masked, and then the value that has come all the same (`Waiter.late`), or
  * the cancel. So a `timeout` whose task has just taken an item returns that, also to a caller who has been cancelled.
  */
private[kernel] final class CanceledWait(waiter: Waiter, hook: Task[Unit])
    extends Loop(Tag.Claiming):

  def start(fiber: RunLoop): Task[Any] =
    fiber.push(this)
    fiber.enterMask()
    hook

  def step(fiber: RunLoop, value: Any): Task[Any] | Null =
    fiber.leaveMask()
    val late = waiter.late
    if late eq null then CancelSelf else late

  override def failed(fiber: RunLoop, error: Throwable): Task[Any] | Null =
    fiber.push(this) // first: printing calls the error's own methods, which may throw
    fiber.runtime.report("a finalizer of a canceled fiber", error)
    Task.unit
