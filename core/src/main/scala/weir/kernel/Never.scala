package weir.kernel

import weir.sync.Awaited

/** Waits for nothing, until it is cancelled. */
private[weir] object Never extends Suspend[Nothing], Awaited:
  def begin(fiber: RunLoop): Any = new Waiter(fiber):
    override def awaited: Awaited = Never

  def awaitedAs: String = "nothing: Task.never"
