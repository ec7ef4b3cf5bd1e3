package weir.task

import weir.Task
import weir.kernel.{Defer, Pure, RunLoop, Suspend}

/** One child that a cancel reaches by a task of the user's first, which is to make it end: `close` of the socket that it
  * reads. Only then is the child cancelled itself, so that a hook that fails or does nothing keeps nothing running.
  */
private[weir] final class Cancelable[A](source: Task[A], onCancel: Task[Unit]) extends Suspend[A]:
  def begin(fiber: RunLoop): Any = CancelableClaims(source, onCancel).start(fiber)

private final class CancelableClaims(source: Task[Any], onCancel: Task[Unit])
    extends Claims(limit = 1):
  private var claimed = false

  // the cancelled parent's
  private var hookRan = false

  def claim(runner: Runner): Boolean =
    val first = !claimed
    claimed = true
    first

  def hasMore: Boolean = false
  def child(runner: Runner): Task[Any] = source
  def store(runner: Runner, value: Any): Unit = stop(Claims.Stop.Won(value), by = runner)
  def result: Any = throw IllegalStateException("It ends with a value or an error.")

  /** A child that has cancelled itself has ended, and its parent's cancel comes of that: there is nothing to make end. */
  override def cancelHook: Task[Unit] = Defer(() =>
    if isOver || stopped.isInstanceOf[Claims.Stop.Won] then cancelAndWait
    else
      hookRan = true
      onCancel.guarantee(cancelAndWait)
  )

  /** Not what the child returns because the hook has made it end. */
  override private[task] def late: Pure[Any] | Null = if hookRan then null else super.late
