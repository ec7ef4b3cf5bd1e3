package weir.task

import weir.Task
import weir.kernel.{CancelSelf, Enter, Loop, RunLoop, Tag}

/** Runs one task for each item, in order, with one frame for all of them. Keeps nothing. */
private[weir] final class Foreach[A](items: Iterable[A], f: A => Task[Any]) extends Enter[Unit]:
  def begin(fiber: RunLoop): Loop = ForeachLoop(items.iterator, f)

private final class ForeachLoop[A](items: Iterator[A], f: A => Task[Any]) extends Loop(Tag.Loop):
  def step(fiber: RunLoop, value: Any): Task[Any] | Null = start(fiber)

  def start(fiber: RunLoop): Task[Any] | Null =
    while items.hasNext do
      val child = f(items.next())
      if Loop.ready(fiber, child).asInstanceOf[AnyRef] eq Loop.NotReady then
        fiber.push(this)
        return if fiber.shouldCancel then CancelSelf else child // all may be pure, for ever
    fiber.loopResult = ()
    null
