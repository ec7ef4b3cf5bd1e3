package weir.task

import weir.Task
import weir.fiber.{Defer, Pure, RunsUserCode, Suspend, TaskFiber}
import weir.group.{ChildGroup, Runner}

/** One child that a cancel reaches first through a task of the user's, which is to make it end: a
  * `close` of the socket that it reads. Only then is the child cancelled itself, so that a hook
  * that fails or does nothing keeps nothing running.
  */
private[weir] final class Cancelable[A](source: Task[A], onCancel: Task[Unit])
    extends Suspend[A],
      RunsUserCode:
  def begin(fiber: TaskFiber): Any = CancelableGroup(source, onCancel).start(fiber)

private final class CancelableGroup(source: Task[Any], onCancel: Task[Unit])
    extends ChildGroup(limit = 1):
  private var taken = false

  // the parent's, as it is cancelled
  private var hookRan = false

  def take(runner: Runner): Boolean =
    val first = !taken
    taken = true
    first

  def hasMore: Boolean = false
  def child(runner: Runner): Task[Any] = source
  def store(runner: Runner, value: Any): Unit = stop(ChildGroup.Stop.Won(value), by = runner)
  def result: Any = throw IllegalStateException("A cancelable task ends with a value or an error.")

  /** A child that has cancelled itself has ended, and so cancels the parent: there is nothing left
    * to make end.
    */
  override def cancelHook: Task[Unit] = Defer(() =>
    if hasEnded || stopped.isInstanceOf[ChildGroup.Stop.Won] then cancelAndWait
    else
      hookRan = true
      onCancel.guarantee(cancelAndWait)
  )

  /** Null if the hook has run: what the child returns then is what the hook has made it return. */
  override private[weir] def late: Pure[Any] | Null = if hookRan then null else super.late
