package weir.task

import weir.Task
import weir.kernel.{Enter, Loop, RunLoop, Tag}

/** Runs one task for each item, in order, with one frame for all of them. Keeps the results. */
private[weir] final class Traverse[A, B](items: Iterable[A], f: A => Task[B])
    extends Enter[List[B]]:
  def begin(fiber: RunLoop): Loop = TraverseLoop(items.toList, f)

/** Runs tasks in order, with one frame for all of them. Keeps the results. */
private[weir] final class Sequence[A](tasks: Iterable[Task[A]]) extends Enter[List[A]]:
  def begin(fiber: RunLoop): Loop = SequenceLoop(tasks.toList)

/** Both loops walk a list and build one, and keep their places in both in local variables while children are ready. */
private abstract class ListLoop extends Loop(Tag.Loop):
  protected val first: ::[Any] = new ::(null, Nil) // not an element: the results come after it
  protected var last: ::[Any] = first

  def step(fiber: RunLoop, value: Any): Task[Any] | Null =
    last = ListLoop.append(last, value)
    start(fiber)

  protected def end(fiber: RunLoop): Null =
    ListTail.publish()
    fiber.loopResult = first.tail
    null

private object ListLoop:
  def append(last: ::[Any], value: Any): ::[Any] =
    val cell = new ::[Any](value, Nil)
    ListTail.link(last.asInstanceOf[::[AnyRef]], cell.asInstanceOf[List[AnyRef]])
    cell

private final class TraverseLoop[A, B](items: List[A], f: A => Task[B]) extends ListLoop:
  private var left = items

  def start(fiber: RunLoop): Task[Any] | Null =
    var left = this.left
    var last = this.last
    while !left.isEmpty do
      val child = f(left.head)
      left = left.tail
      val value = Loop.ready(fiber, child)
      if value.asInstanceOf[AnyRef] eq Loop.NotReady then
        this.left = left
        this.last = last
        fiber.push(this)
        return child
      last = ListLoop.append(last, value)
    end(fiber)

private final class SequenceLoop(tasks: List[Task[Any]]) extends ListLoop:
  private var left = tasks

  def start(fiber: RunLoop): Task[Any] | Null =
    var left = this.left
    var last = this.last
    while !left.isEmpty do
      val child = left.head
      left = left.tail
      val value = Loop.ready(fiber, child)
      if value.asInstanceOf[AnyRef] eq Loop.NotReady then
        this.left = left
        this.last = last
        fiber.push(this)
        return child
      last = ListLoop.append(last, value)
    end(fiber)
