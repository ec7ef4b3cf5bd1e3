package weir.task

import java.util.concurrent.{CancellationException, TimeoutException}
import scala.concurrent.duration.FiniteDuration
import weir.fiber.{Awaited, CallbackJoin, Pure, Suspend, TaskFiber, Waiter}
import weir.runtime.AlarmAfter
import weir.runtime.DurationText
import weir.trace.ErrorTrace
import weir.{Outcome, Task}

/** One child on a fiber of its own, which the parent abandons when an alarm rings.
  *
  * {{{
  * Running --end of the child--> Ended
  *    |                            ^
  *    +--alarm--> Abandoned -------+   (an abandoned task, counted by the runtime)
  * }}}
  *
  * The child never runs on the parent's thread: that may be the thread of a `runSync`, whose caller
  * must go on at the limit.
  */
private[weir] final class TimeoutAbandon[A](source: Task[A], limit: FiniteDuration)
    extends Suspend[A]:
  def begin(fiber: TaskFiber): Any =
    val child = fiber.fork(source)
    try
      val wait = AbandonableWait(fiber, child, limit)
      wait.watch()
      wait
    catch
      case error: Throwable => // no alarm could be set: nothing would ever limit it
        child.requestCancel()
        throw error

/** The parent's wait for such a child. */
private final class AbandonableWait(parent: TaskFiber, child: TaskFiber, limit: FiniteDuration)
    extends Waiter(parent),
      Awaited:
  private val runtime = parent.runtime

  // shared, under this object's lock
  private var state = AbandonableWait.Running

  /** The wait of the cancelled parent for the child to end. */
  private var cancelWaiter: Waiter | Null = null

  private val alarm = new AlarmAfter(runtime.timers, limit.toNanos):
    def ring(): Unit = abandonChild()

  /** Sets the alarm, then registers for the end of the child. In that order, the call that sees the
    * child's end can remove the alarm.
    */
  def watch(): Unit =
    runtime.timers.add(alarm)
    child.register((list, lock) => CallbackJoin(ended, runtime, list, lock)) match
      case outcome: Outcome[?] => ended(outcome)
      case _ => ()

  private def abandonChild(): Unit =
    val waits = AbandonableWait.this.synchronized {
      val running = state == AbandonableWait.Running
      if running then
        state = AbandonableWait.Abandoned
        // before the error can make any code ask for the number
        runtime.abandonedTaskCount.incrementAndGet(): Unit
      running
    }
    if waits then
      val error = TimeoutException(
        s"The task did not end within ${DurationText(limit)}. It was cancelled and abandoned; " +
          "WeirRuntime.abandonedTasks counts it until it ends."
      )
      child.requestCancel() // first: the child begins nothing new once the parent goes on
      if !fail(error) then wakeCancelled()

  private def ended(outcome: Outcome[Any]): Unit =
    val isAbandoned = synchronized {
      val abandoned = state == AbandonableWait.Abandoned
      state = AbandonableWait.Ended
      abandoned
    }
    if isAbandoned then runtime.abandonedTaskCount.decrementAndGet(): Unit
    else
      runtime.timers.remove(alarm): Unit
      val waits = outcome match
        case Outcome.Succeeded(value) => complete(value)
        case Outcome.Failed(error) =>
          ErrorTrace.pass(error, parent, from = child)
          fail(error)
        case Outcome.Canceled =>
          parent.requestCancel()
          fail(
            CancellationException(
              "The task cancelled itself. That cancels its parent too, which is masked here."
            )
          )
      if !waits then wakeCancelled()

  override def awaited: Awaited = this
  def awaitedAs: String = s"Task.timeoutAbandon(${DurationText(limit)}), whose task has not ended"
  override def holders: Iterator[TaskFiber] = Iterator(child)

  private def wakeCancelled(): Unit =
    val waiter = synchronized(cancelWaiter)
    if waiter ne null then waiter.complete(()): Unit

  /** Cancels the child, and waits until it has ended or the alarm rings. */
  override val cancelHook: Task[Unit] = new Suspend[Unit]:
    def begin(fiber: TaskFiber): Any =
      val waiter = Waiter(fiber)
      val waits = AbandonableWait.this.synchronized {
        val running = state == AbandonableWait.Running
        if running then cancelWaiter = waiter
        running
      }
      if waits then
        child.requestCancel()
        waiter
      else ()

  override def late: Pure[Any] | Null = child.outcome match
    case Outcome.Succeeded(value) => Pure(value)
    case _ => null

private object AbandonableWait:
  private inline val Running = 0
  private inline val Abandoned = 1
  private inline val Ended = 2
