package weir.group

import weir.Task
import weir.fiber.{Awaited, Pure, TaskFiber, Waiter}

/** The parent's wait for its group of children. */
private[weir] final class GroupWaiter(parent: TaskFiber, group: ChildGroup) extends Waiter(parent):
  /** The runner that ends the group; the parent continues on its thread. */
  var lastRunner: TaskFiber | Null = null

  override protected def resumeFiber(): Unit =
    val runner = lastRunner
    if (runner eq null) || isCanceled then super.resumeFiber() else fiber.resumeAfter(this, runner)

  override def cancelHook: Task[Unit] = group.cancelHook
  override def late: Pure[Any] | Null = group.late
  override def isFound: Boolean = true // a dump finds the parent by its children
  override def awaited: Awaited = group
