package weir.task

import java.util.concurrent.{CancellationException, TimeoutException}
import scala.concurrent.duration.FiniteDuration
import weir.kernel.{CallbackJoin, Pure, RunLoop, Suspend, Waiter}
import weir.runtime.AlarmAfter
import weir.sync.Awaited
import weir.trace.ErrorTrace
import weir.{Outcome, Task}

/** One child on a fiber of its own, and an alarm after which nobody waits for it any more.
  *
  * {{{
  * Running --end of the child--> Ended
  *    |                            ^
  *    +--alarm--> Abandoned -------+   (a stray, counted by the runtime)
  * }}}
  *
  * The child never runs on the parent's thread: that may be the caller's of a `runSync`, who wants to go on at the limit.
  */
private[weir] final class TimeoutAbandon[A](source: Task[A], limit: FiniteDuration)
    extends Suspend[A]:
  def begin(fiber: RunLoop): Any =
    val child = fiber.fork(source)
    try
      val abandonable = Abandonable(fiber, child, limit)
      abandonable.watch()
      abandonable
    catch
      case error: Throwable => // no alarm to be had: nobody would ever limit it
        child.requestCancel()
        throw error

/** The parent's wait. */
private final class Abandonable(parent: RunLoop, child: RunLoop, limit: FiniteDuration)
    extends Waiter(parent),
      Awaited:
  private val runtime = parent.runtime

  // shared, under this object's lock
  private var state = Abandonable.Running

  /** Where the parent waits for the child after its own cancel. */
  private var canceling: Waiter | Null = null

  private val alarm = new AlarmAfter(runtime.timers, limit.toNanos):
    def ring(): Unit = abandonChild()

  /** The alarm is set first, so that whoever sees the child's end can remove it. */
  def watch(): Unit =
    runtime.timers.add(alarm)
    child.register((list, lock) => CallbackJoin(ended, runtime, list, lock)) match
      case outcome: Outcome[?] => ended(outcome)
      case _ => ()

  private def abandonChild(): Unit =
    val waits = Abandonable.this.synchronized {
      val running = state == Abandonable.Running
      if running then
        state = Abandonable.Abandoned
        runtime.strayCount.incrementAndGet(): Unit // before anybody can ask because of the error
      running
    }
    if waits then
      val left = TimeoutException(
        s"The task did not end within $limit. It was canceled and left behind; Runtime.strays counts it until it ends."
      )
      child.requestCancel() // first: nothing of it begins any more once the parent goes on
      if !fail(left) then wakeCanceling()

  private def ended(outcome: Outcome[Any]): Unit =
    val stray = synchronized {
      val abandoned = state == Abandonable.Abandoned
      state = Abandonable.Ended
      abandoned
    }
    if stray then runtime.strayCount.decrementAndGet(): Unit
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
              "The task canceled itself. That cancels its parent too, which is masked here."
            )
          )
      if !waits then wakeCanceling()

  override def awaited: Awaited = this
  def awaitedAs: String = s"Task.timeoutAbandon($limit), whose task has not ended"
  override def holders: Iterator[RunLoop] = Iterator(child)

  private def wakeCanceling(): Unit =
    val waiter = synchronized(canceling)
    if waiter ne null then waiter.complete(()): Unit

  /** Asks the child, and waits for it, until it has ended or the alarm rings. */
  override val cancelHook: Task[Unit] = new Suspend[Unit]:
    def begin(fiber: RunLoop): Any =
      val waiter = Waiter(fiber)
      val waits = Abandonable.this.synchronized {
        val running = state == Abandonable.Running
        if running then canceling = waiter
        running
      }
      if waits then
        child.requestCancel()
        waiter
      else ()

  override def late: Pure[Any] | Null = child.outcome match
    case Outcome.Succeeded(value) => Pure(value)
    case _ => null

private object Abandonable:
  private inline val Running = 0
  private inline val Abandoned = 1
  private inline val Ended = 2
