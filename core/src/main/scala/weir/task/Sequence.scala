package weir.task

import scala.collection.mutable.ListBuffer
import weir.Task
import weir.kernel.{Enter, Loop, RunLoop, Tag}

/** Runs one task for each item, in order, with one frame for all of them. Keeps the results. */
private[weir] final class Traverse[A, B](items: Iterable[A], f: A => Task[B])
    extends Enter[List[B]]:
  def begin(fiber: RunLoop): Loop = TraverseLoop(items.iterator, f)

private final class TraverseLoop[A, B](items: Iterator[A], f: A => Task[B]) extends Loop(Tag.Loop):
  private val results = ListBuffer[Any]()

  def step(fiber: RunLoop, value: Any): Task[Any] | Null =
    results += value
    start(fiber)

  def start(fiber: RunLoop): Task[Any] | Null =
    while items.hasNext do
      val child = f(items.next())
      val value = Loop.ready(fiber, child)
      if value.asInstanceOf[AnyRef] eq Loop.NotReady then
        fiber.push(this)
        return child
      results += value
    fiber.loopResult = results.toList
    null

/** Runs tasks in order, with one frame for all of them. Keeps the results. */
private[weir] final class Sequence[A](tasks: Iterable[Task[A]]) extends Enter[List[A]]:
  def begin(fiber: RunLoop): Loop = SequenceLoop(tasks.iterator)

private final class SequenceLoop(tasks: Iterator[Task[Any]]) extends Loop(Tag.Loop):
  private val results = ListBuffer[Any]()

  def step(fiber: RunLoop, value: Any): Task[Any] | Null =
    results += value
    start(fiber)

  def start(fiber: RunLoop): Task[Any] | Null =
    while tasks.hasNext do
      val child = tasks.next()
      val value = Loop.ready(fiber, child)
      if value.asInstanceOf[AnyRef] eq Loop.NotReady then
        fiber.push(this)
        return child
      results += value
    fiber.loopResult = results.toList
    null
