package weir.sync

import java.lang.invoke.{MethodHandles, VarHandle}
import scala.annotation.static
import weir.kernel.{RunLoop, Waiter}
import weir.runtime.Tuning

/** What the primitives with a line of waiters have in common: a lock of one CAS, and wake-ups after it is given back.
  *
  *   - **Under the lock**: a few instructions on the primitive's own fields. No user's code, nothing that blocks, no wake-up: a
  *     virtual thread cannot leave its carrier there. So those who find the lock held spin, and give way only where
  *     the holder's carrier itself does not run. A monitor would take their virtual thread off its carrier, which costs as
  *     much as a hundred operations.
  *   - **Handing over**: `hand` gives a waiter its value under the lock, by `Waiter.claim`, which is where a cancel loses or
  *     wins; the fibers that have to be woken are chained, and queued once the lock is free.
  *   - **Invariant of each primitive**: with the lock free, nobody stands in line for what is there. Whoever changes what is there, or
  *     leaves the line, serves the line before it gives the lock back.
  */
private[weir] abstract class Guarded extends Awaited:

  // shared
  @volatile private[sync] var held = 0

  // under the lock
  private var firstWoken: WaitList.Entry | Null = null
  private var lastWoken: WaitList.Entry | Null = null

  /** `body` under the lock, then the wake-ups that it owes, on the thread of `fiber`. */
  final protected inline def locked[A](fiber: RunLoop)(inline body: A): A =
    lock()
    try body
    finally unlockAndWake(fiber)

  /** True if the fiber of `entry`, which has left its list, gets `value`. Under the lock. */
  final protected def hand(entry: WaitList.Entry, value: Any): Boolean =
    val claimed = entry.claim(value)
    if claimed == Waiter.Asleep then
      if lastWoken eq null then firstWoken = entry else lastWoken.nn.nextWoken = entry
      lastWoken = entry
    claimed != Waiter.Late

  /** Called by the fiber of `entry`, which has been cancelled while it waited: `entry` leaves, and the others are served. */
  private[weir] def leave(entry: GuardedEntry): Unit

  final protected def lock(): Unit =
    if !Guarded.Held.compareAndSet(this, 0, 1) then lockHeld()

  private def lockHeld(): Unit =
    var pause = Backoff.pause(Tuning.backoffFirstNanos)
    var tries = 0
    while held != 0 || !Guarded.Held.compareAndSet(this, 0, 1) do
      tries += 1
      if tries % Tuning.lockTriesPerYield == 0 then Thread.`yield`()
      pause = Backoff.pause(pause)

  final protected def unlockAndWake(fiber: RunLoop): Unit =
    var woken = firstWoken
    if woken ne null then
      firstWoken = null
      lastWoken = null
    Guarded.Held.setRelease(this, 0) // pairs with the CAS in lock
    while woken ne null do
      val next = woken.nextWoken // before the wake-up, after which the entry may be gone
      woken.nextWoken = null
      woken.wakeUpFrom(fiber)
      woken = next

private[weir] object Guarded:
  @static private val Held: VarHandle =
    MethodHandles.lookup().findVarHandle(classOf[Guarded], "held", classOf[Int])

/** A waiter in a list of `primitive`. */
private[weir] class GuardedEntry(fiber: RunLoop, list: WaitList, primitive: Guarded)
    extends WaitList.Entry(fiber, list, primitive):
  final private[weir] def isListed: Boolean = listed
  final private[weir] def leaveList(): Unit = list.remove(this)
  override def abandon(): Unit = primitive.leave(this)
