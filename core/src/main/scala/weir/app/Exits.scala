package weir.app

import weir.fiber.TaskFiber

/** Finds the fibers that cannot end any more because they, or fibers that they wait for, have
  * called `System.exit`, which never returns.
  */
private[weir] object Exits:

  /** Returns true if `fiber` is in a call of `System.exit`, or waits, in a finalizer or another
    * mask, for fibers that all are.
    *
    * A wait that a cancel may still end does not count: between the cancel of a fiber and that of
    * its children, a fiber whose finalizers are yet to run would look like one that waits for the
    * exit.
    */
  def hold(fiber: TaskFiber): Boolean = hold(fiber, Set.empty)

  private def hold(fiber: TaskFiber, seen: Set[TaskFiber]): Boolean =
    def all(others: Iterator[TaskFiber]): Boolean =
      others.nonEmpty && others.forall(other => !seen(other) && hold(other, seen + fiber))
    val wait = fiber.latestWait
    if (wait ne null) && wait.isWaiting then
      val awaited = wait.awaited
      (awaited ne null) && !wait.cancelable && all(awaited.holders)
    else
      fiber.nestedFiber match
        case inner: TaskFiber => all(Iterator(inner)) || isInExit(fiber)
        case _ => isInExit(fiber)

  private def isInExit(fiber: TaskFiber): Boolean =
    val executionThread = fiber.executionThread
    (executionThread ne null) && (executionThread.running eq fiber) &&
    executionThread.thread.getStackTrace.exists(_.getClassName == "java.lang.Shutdown")
