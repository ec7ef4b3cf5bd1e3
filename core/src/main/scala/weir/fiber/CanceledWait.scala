package weir.fiber

import weir.Task

/** The frame that follows a wait which a cancel has ended. It runs the wait's hook, masked. Then it
  * continues with the value that has come nevertheless (`Waiter.late`), or else with the cancel. So
  * a `timeout` whose task has just taken an item returns the item, even to a fiber that is being
  * cancelled.
  */
private[fiber] final class CanceledWait(waiter: Waiter, hook: Task[Unit])
    extends Frame(Tag.HandlingFrame):

  def start(fiber: TaskFiber): Task[Any] =
    fiber.push(this)
    fiber.addMask()
    hook

  def step(fiber: TaskFiber, value: Any): Task[Any] | Null =
    fiber.removeMask()
    val late = waiter.late
    if late eq null then CancelSelf else late

  override def failed(fiber: TaskFiber, error: Throwable): Task[Any] | Null =
    fiber.push(this) // first: printing calls the error's own methods, which may throw
    fiber.runtime.report("a finalizer of a cancelled fiber", error)
    Task.unit
