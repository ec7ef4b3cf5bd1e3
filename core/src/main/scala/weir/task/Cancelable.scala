package weir.task

import weir.Task
import weir.fiber.{Defer, Pure, RunsUserCode, Suspend, TaskFiber}
import weir.group.{ChildGroup, Runner}

/** One child that a cancel reaches first through a task of the user's. That task is to make the
  * child end, such as a `close` of the socket that the child reads. Then the child itself is
  * cancelled, so that a hook that fails or does nothing keeps nothing running.
  */
private[weir] final class Cancelable[A](source: Task[A], onCancel: Task[Unit])
    extends Suspend[A],
      RunsUserCode:
  def begin(fiber: TaskFiber): Any = CancelableGroup(source, onCancel).start(fiber)

private final class CancelableGroup(source: Task[Any], onCancel: Task[Unit])
    extends ChildGroup(limit = 1):
  private var taken = false

  // written by the parent, as it is cancelled
  private var hookRan = false

  def take(runner: Runner): Boolean =
    val first = !taken
    taken = true
    first

  def hasMore: Boolean = false
  def child(runner: Runner): Task[Any] = source
  def store(runner: Runner, value: Any): Unit = stop(ChildGroup.Stop.Won(value), by = runner)
  def result: Any = throw IllegalStateException("A cancelable task ends with a value or an error.")

  /** Runs `onCancel`, then cancels the child and waits for it. A child that has cancelled itself
    * has ended, and so cancels the parent: then there is nothing to make end, and `onCancel` does
    * not run.
    */
  override def cancelHook: Task[Unit] = Defer(() =>
    if hasEnded || stopped.isInstanceOf[ChildGroup.Stop.Won] then cancelAndWait
    else
      hookRan = true
      onCancel.guarantee(cancelAndWait)
  )

  /** Returns null if the hook has run: then the hook has made the child return its value. */
  override private[weir] def late: Pure[Any] | Null = if hookRan then null else super.late
