package weir.kernel

import java.lang.invoke.{MethodHandles, VarHandle}
import java.util.concurrent.locks.LockSupport
import scala.annotation.static
import weir.Task
import weir.sync.Awaited

/** One wait of one fiber: the meeting point of the fiber that suspends, whoever wakes it, and a cancel.
  *
  * {{{
  * Registering --fiber--> Suspended --waker--> Claimed --waker--> Done
  *      |                     |
  *      +------waker----> Claimed ...         +--cancel--> Canceled
  * }}}
  *
  *   - Whoever moves the state out of `Suspended` owns the fiber, and is the one to queue it.
  *   - `complete` tells its caller whether the fiber got the value; a false means that the value is still
  *     the caller's, for the next in line.
  *   - **Ordering**: all of the fiber's fields are written before the CAS to `Suspended`, which pairs with
  *     the CAS of the waker or the canceller.
  */
private[weir] class Waiter(val fiber: RunLoop):

  // fiber's own until Suspended
  private[weir] var cancelable = false

  /** The thread that is parked, where the fiber awaits in direct style; null where it has left its thread. */
  private[weir] var thread: Thread | Null = null

  /** The watch's time at which the wait began. */
  private[weir] var since = 0

  // shared
  @volatile private var state = Waiter.Registering

  // the waker's until Done, then the fiber's
  private[kernel] var value: Any = null
  private[kernel] var isError = false

  /** True if the fiber gets `value`; false if it was completed or cancelled before. */
  final def complete(value: Any): Boolean = finish(value, isError = false)

  /** True if the fiber fails with `error`; false if it was completed or cancelled before. */
  final def fail(error: Throwable): Boolean = finish(error, isError = true)

  private def finish(value: Any, isError: Boolean): Boolean =
    val claimed = claim(value, isError)
    if claimed == Waiter.Asleep then wakeUp()
    claimed != Waiter.Late

  /** As `complete`, in two steps, for a caller that holds a lock which it must not hold while it wakes somebody: `Late`,
    * or `Awake`, or `Asleep`, after which the caller owns the fiber and owes it `wakeUpFrom`.
    */
  final private[weir] def claim(value: Any): Int = claim(value, isError = false)

  private def claim(value: Any, isError: Boolean): Int =
    var current = state
    while current == Waiter.Registering || current == Waiter.Suspended do
      if Waiter.State.compareAndSet(this, current, Waiter.Claimed) then
        this.value = value
        this.isError = isError
        state = Waiter.Done
        return if current == Waiter.Suspended then Waiter.Asleep else Waiter.Awake
      current = state
    Waiter.Late

  /** The second step of `claim`, on the thread of the fiber `waker`, where this fiber is queued. */
  final private[weir] def wakeUpFrom(waker: RunLoop): Unit =
    val parked = thread
    if parked eq null then fiber.resumeFrom(this, waker) else LockSupport.unpark(parked)

  /** The fiber's: false if somebody was faster, and the result is (or is about to be) here. */
  private[kernel] def suspend(): Boolean =
    Waiter.State.compareAndSet(this, Waiter.Registering, Waiter.Suspended)

  /** True if this call has ended the wait. The caller then owns the fiber. */
  private[kernel] def takeForCancel(): Boolean =
    state == Waiter.Suspended && cancelable &&
      Waiter.State.compareAndSet(this, Waiter.Suspended, Waiter.Canceled)

  /** Wakes the fiber of a waiter that this thread has taken out of `Suspended`. */
  private[kernel] def wakeUp(): Unit =
    val parked = thread
    if parked eq null then resumeFiber() else LockSupport.unpark(parked)

  /** Queues the fiber, which this thread owns. Who overrides it is to be `Linked`. */
  protected def resumeFiber(): Unit = fiber.resume(this)

  private[weir] def isWaiting: Boolean =
    val current = state
    current == Waiter.Suspended || current == Waiter.Claimed

  /** True until somebody has ended the wait, also before the fiber has suspended. */
  private[weir] def isOpen: Boolean =
    val current = state
    current == Waiter.Registering || current == Waiter.Suspended

  private[weir] def isCanceled: Boolean = state == Waiter.Canceled

  /** True if the fiber has got its value, or is to get it as soon as it runs. */
  private[weir] def isDone: Boolean = state == Waiter.Done

  /** The fiber's, after `suspend` was false: waits the few instructions until the result is here. */
  private[kernel] def awaitDone(): Unit = while state != Waiter.Done do Thread.onSpinWait()

  /** Called by the fiber once it finds itself cancelled: leaves the list that it waits in. */
  def abandon(): Unit = ()

  /** True where a dump finds the fiber without its being in the roster. */
  def isFound: Boolean = false

  /** What the fiber waits for, as a fiber dump tells it; null where only its own code could say. */
  def awaited: Awaited | Null = null

  /** What the fiber does after `abandon`, before its other finalizers; null for nothing. */
  def cancelHook: Task[Unit] | Null = null

  /** The value that has come after a cancel had ended the wait, once `cancelHook` has run; null for none. */
  def late: Pure[Any] | Null = null

private[weir] object Waiter:
  @static private val State: VarHandle =
    MethodHandles.lookup().findVarHandle(classOf[Waiter], "state", classOf[Int])

  private[kernel] inline val Registering = 0
  private[kernel] inline val Suspended = 1
  private[kernel] inline val Claimed = 2
  private[kernel] inline val Done = 3
  private[kernel] inline val Canceled = 4

  /** What `claim` says: the wait had ended before; the fiber gets the value, and has not left its thread; it gets the value, and
    * is to be woken.
    */
  private[weir] inline val Late = 0
  private[weir] inline val Awake = 1
  private[weir] inline val Asleep = 2
