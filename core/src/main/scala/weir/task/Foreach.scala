package weir.task

import weir.Task
import weir.fiber.{BeginFrame, CancelSelf, Frame, Tag, TaskFiber}

/** Runs one task for each item, in order, with one frame for all of them. Keeps no results. */
private[weir] final class Foreach[A](items: Iterable[A], f: A => Task[Any])
    extends BeginFrame[Unit]:
  def begin(fiber: TaskFiber): Frame = ForeachFrame(items.iterator, f)

private final class ForeachFrame[A](items: Iterator[A], f: A => Task[Any]) extends Frame(Tag.Frame):
  def step(fiber: TaskFiber, value: Any): Task[Any] | Null = start(fiber)

  override def perItem: Class[?] = f.getClass

  def start(fiber: TaskFiber): Task[Any] | Null =
    while items.hasNext do
      val child = f(items.next())
      if Frame.ready(fiber, child).asInstanceOf[AnyRef] eq Frame.NotReady then
        fiber.push(this)
        return if fiber.shouldCancel then CancelSelf else child // all may be `Pure`, for ever
    fiber.frameResult = ()
    null
