package weir.sync

import java.lang.invoke.{MethodHandles, VarHandle}
import scala.annotation.static
import weir.fiber.{Awaited, TaskFiber, WaitList, Waiter}
import weir.runtime.{Counters, Tuning}

/** The base of the primitives with a line of waiters: a lock of one CAS, and wake-ups after its
  * release.
  *
  *   - **Under the lock**: a few instructions on the primitive's own fields. No user's code runs,
  *     nothing blocks and nothing is woken, so a virtual thread cannot leave its carrier while it
  *     holds the lock. Therefore a fiber that finds the lock held spins. It yields its carrier only
  *     now and then, in case the operating system has taken the holder's carrier off its processor.
  *     A monitor would unmount the virtual thread, which costs as much as a hundred operations.
  *   - **Handing over**: `hand` gives a waiter its value under the lock, by `Waiter.assign`, which
  *     decides between it and a cancel. The fibers to wake are chained, and queued once the lock is
  *     free.
  *   - **Invariant of each primitive**: with the lock free, no fiber waits for anything that is
  *     available. An operation that makes something available, or removes a waiter, serves the line
  *     before it releases the lock.
  */
private[weir] abstract class Guarded extends Awaited:

  // shared
  @volatile private[sync] var held = 0

  // under the lock
  private var firstWoken: WaitList.Entry | Null = null
  private var lastWoken: WaitList.Entry | Null = null

  /** Runs `body` under the lock, then wakes the waiters to which it has handed a value, on the
    * thread of `fiber`.
    */
  final private[weir] inline def locked[A](fiber: TaskFiber)(inline body: A): A =
    lock()
    try body
    finally unlockAndWake(fiber)

  /** As `locked`, on a thread that may run no fiber. */
  final private[weir] inline def lockedOutside[A](inline body: A): A =
    lock()
    try body
    finally unlockAndWake(null)

  /** Under the lock: gives `value` to the fiber of `entry`, which is in no list any more. Returns
    * false if its wait was cancelled.
    */
  final private[weir] def hand(entry: WaitList.Entry, value: Any): Boolean =
    val assigned = entry.assign(value)
    if assigned == Waiter.MustWake then
      if lastWoken eq null then firstWoken = entry else lastWoken.nn.nextWoken = entry
      lastWoken = entry
    assigned != Waiter.Refused

  /** Called by the fiber of `entry`, whose wait a cancel has ended. Removes `entry`, and serves the
    * others.
    */
  private[weir] def leave(entry: GuardedEntry): Unit

  final private[weir] def lock(): Unit =
    if !Guarded.Held.compareAndSet(this, 0, 1) then lockHeld()

  private def lockHeld(): Unit =
    Counters.count(Counters.LockHeld)
    var pause = Backoff.pause(Tuning.backoffFirstNanos)
    var tries = 0
    while held != 0 || !Guarded.Held.compareAndSet(this, 0, 1) do
      tries += 1
      Counters.count(Counters.LockPause)
      if tries % Tuning.lockTriesPerYield == 0 then Thread.`yield`()
      pause = Backoff.pause(pause)

  final private[weir] def unlockAndWake(fiber: TaskFiber | Null): Unit =
    var woken = firstWoken
    if woken ne null then
      firstWoken = null
      lastWoken = null
    Guarded.Held.setRelease(this, 0) // pairs with the CAS in lock
    while woken ne null do
      val next = woken.nextWoken
      woken.nextWoken = null // its fiber may keep it, which would keep all entries chained after it
      if fiber eq null then woken.wakeUp() else woken.wakeUpFrom(fiber)
      woken = next

private[weir] object Guarded:
  @static private val Held: VarHandle =
    MethodHandles.lookup().findVarHandle(classOf[Guarded], "held", classOf[Int])

/** A waiter in a list of `primitive`. */
private[weir] class GuardedEntry(fiber: TaskFiber, list: WaitList, primitive: Guarded)
    extends WaitList.Entry(fiber, list, primitive):
  final private[weir] def isListed: Boolean = listed
  final private[weir] def leaveList(): Unit = list.remove(this)
  override def abandon(): Unit = primitive.leave(this)
