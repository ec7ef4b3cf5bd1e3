package weir.app

import weir.kernel.RunLoop

/** Which fibers cannot end any more, since the code of one of them has called `System.exit`: that never returns. */
private[weir] object Exits:

  /** True if `fiber` stands in an exit, or waits for fibers that all do, in a finalizer or another mask.
    *
    * A wait that a cancel may still end does not count: between the cancel of a fiber and that of those it has forked, one whose
    * finalizers are yet to run would look like one that waits for the exit.
    */
  def hold(fiber: RunLoop): Boolean = hold(fiber, Set.empty)

  private def hold(fiber: RunLoop, seen: Set[RunLoop]): Boolean =
    def all(others: Iterator[RunLoop]): Boolean =
      others.nonEmpty && others.forall(other => !seen(other) && hold(other, seen + fiber))
    val wait = fiber.latestWait
    if (wait ne null) && wait.isWaiting then
      val awaited = wait.awaited
      (awaited ne null) && !wait.cancelable && all(awaited.holders)
    else
      fiber.nestedFiber match
        case inner: RunLoop => all(Iterator(inner)) || stands(fiber)
        case _ => stands(fiber)

  private def stands(fiber: RunLoop): Boolean =
    val host = fiber.host
    (host ne null) && (host.running eq fiber) &&
    host.thread.getStackTrace.exists(_.getClassName == "java.lang.Shutdown")
