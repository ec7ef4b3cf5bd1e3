package weir.task

import weir.Task
import weir.fiber.{BeginFrame, CancelSelf, Frame, Tag, TaskFiber}

/** Runs a task again and again, with one frame for all of its runs. */
private[weir] final class Forever(body: Task[Any]) extends BeginFrame[Nothing]:
  def begin(fiber: TaskFiber): Frame = ForeverFrame(body)

private final class ForeverFrame(body: Task[Any]) extends Frame(Tag.Frame):
  def step(fiber: TaskFiber, value: Any): Task[Any] | Null = start(fiber)

  def start(fiber: TaskFiber): Task[Any] | Null =
    while !(Frame.ready(fiber, body).asInstanceOf[AnyRef] eq Frame.NotReady) do ()
    fiber.push(this)
    if fiber.shouldCancel then CancelSelf else body // which may be `Pure`, for ever
