package weir.task

import weir.Task
import weir.kernel.{CancelSelf, Enter, Loop, RunLoop, Tag}

/** Runs a task again and again, with one frame in all. */
private[weir] final class Forever(body: Task[Any]) extends Enter[Nothing]:
  def begin(fiber: RunLoop): Loop = ForeverLoop(body)

private final class ForeverLoop(body: Task[Any]) extends Loop(Tag.Loop):
  def step(fiber: RunLoop, value: Any): Task[Any] | Null = start(fiber)

  def start(fiber: RunLoop): Task[Any] | Null =
    while !(Loop.ready(fiber, body).asInstanceOf[AnyRef] eq Loop.NotReady) do ()
    fiber.push(this)
    if fiber.shouldCancel then CancelSelf else body // which may be pure, for ever
