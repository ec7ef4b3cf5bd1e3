package weir.fiber

import weir.{Outcome, WeirRuntime}

/** The joiners of one fiber that has not ended. It is also the lock of their list. */
private[fiber] final class Joiners(fiber: FiberCore) extends Awaited:
  def awaitedAs: String = s"the end of fiber ${fiber.name}"
  override def holders: Iterator[TaskFiber] = Iterator(fiber).collect { case fiber: TaskFiber =>
    fiber
  }

  // shared, under this object's lock
  val list = WaitList()

  /** True once the fiber has ended: a further joiner reads the outcome. */
  var closed = false

  /** Passes the outcome to all joiners. Returns true if any of them has got it; the wait of a
    * joiner may have been cancelled before.
    */
  def wakeAll(outcome: Outcome[Any]): Boolean =
    var isDelivered = false
    var joiner = synchronized {
      closed = true
      list.poll()
    }
    while joiner ne null do
      fiber.passTrace(outcome, joiner.fiber)
      if joiner.complete(outcome) then isDelivered = true
      joiner = synchronized(list.poll())
    isDelivered

/** The wait of a thread that blocks until a fiber has ended. */
private[fiber] final class ThreadJoin(list: WaitList, lock: AnyRef)
    extends WaitList.Entry(null.asInstanceOf[TaskFiber], list, lock):
  thread = Thread.currentThread()
  suspend(): Unit

/** Calls `callback` with the outcome, on the thread that ends the fiber. */
private[weir] final class CallbackJoin(
    callback: Outcome[Any] => Unit,
    runtime: WeirRuntime,
    list: WaitList,
    lock: AnyRef
) extends WaitList.Entry(null.asInstanceOf[TaskFiber], list, lock):
  suspend(): Unit
  override protected def resumeFiber(): Unit =
    try callback(value.asInstanceOf[Outcome[Any]])
    catch case error: Throwable => runtime.report("a callback of runAsync", error)
