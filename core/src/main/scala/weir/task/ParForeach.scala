package weir.task

import weir.Task
import weir.fiber.{RunsUserCode, Suspend, TaskFiber}
import weir.group.{ChildGroup, Runner}

/** Runs one child for each item, at most `limit` at a time, and drops the results. Takes the items
  * one by one, so that a million of them cost no more memory than `limit`.
  */
private[weir] final class ParForeach[A](limit: Int, items: Iterable[A], f: A => Task[Any])
    extends Suspend[Unit],
      RunsUserCode:
  require(limit >= 1, s"parForeach: the parallelism was $limit. It must be at least 1.")

  def begin(fiber: TaskFiber): Any = ForeachGroup(limit, items.iterator, f).start(fiber)

private final class ForeachGroup[A](limit: Int, items: Iterator[A], f: A => Task[Any])
    extends ChildGroup(limit):
  private var isUsedUp = false // for good: a helper may begin when the group has ended

  def take(runner: Runner): Boolean = synchronized {
    val more = hasMore
    if more then runner.item = items.next()
    more
  }

  def hasMore: Boolean = synchronized {
    isUsedUp = isUsedUp || !items.hasNext
    !isUsedUp
  }
  def child(runner: Runner): Task[Any] = f(runner.item.asInstanceOf[A])
  def store(runner: Runner, value: Any): Unit = ()
  def result: Any = ()
