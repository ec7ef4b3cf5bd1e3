package weir.fiber

/** Waits until it is cancelled. */
private[weir] object Never extends Suspend[Nothing], Awaited:
  def begin(fiber: TaskFiber): Any = new Waiter(fiber):
    override def awaited: Awaited = Never

  def awaitedAs: String = "nothing: Task.never"
