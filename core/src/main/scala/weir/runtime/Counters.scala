package weir.runtime

import java.util.concurrent.atomic.LongAdder

/** Counts how carriers disturb each other, for measurements: lost races, locks that were held,
  * wake-ups, steals.
  *
  *   - **Off**, unless the JVM was started with `-Dweir.counters=true`. Then `isOn` is a constant
  *     for the JIT, which removes each call of `count`.
  *   - **Striped**: each counter is a `LongAdder`, so that two carriers that count do not contend.
  *   - Monitors are not counted: `jdk.JavaMonitorEnter` of the JDK's flight recorder has those for
  *     which a thread has waited.
  */
private[weir] object Counters:

  /** True if events are counted. */
  val isOn: Boolean = java.lang.Boolean.getBoolean("weir.counters")

  // the scheduler
  inline val Slice = 0
  inline val PushRetry = 1
  inline val PollRetry = 2
  inline val OverflowPush = 3
  inline val Steal = 4
  inline val StolenJob = 5
  inline val EmptyScan = 6
  inline val StandbyRaised = 7
  inline val StandbyLost = 8
  inline val WorkerStarted = 9
  inline val WorkerUnparked = 10
  inline val SlotTaken = 11
  inline val BlockedSlotTaken = 12
  inline val SlotLost = 13
  inline val IdleLost = 14
  inline val StandbyRest = 15
  inline val SearchRound = 16
  inline val HandOver = 17
  inline val QueuedHandOver = 18
  inline val CallerListed = 19
  inline val WorkerListed = 20
  inline val RegistryEntry = 21
  inline val WatchWoken = 22

  // timers
  inline val AlarmSet = 23
  inline val AlarmRemoved = 24
  inline val AlarmRung = 25
  inline val TimerLockHeld = 26
  inline val TimerWoken = 27
  inline val TimerLook = 28

  // primitives
  inline val LockHeld = 29
  inline val LockPause = 30
  inline val RefRetry = 31

  // groups of children
  inline val HelperRequest = 32
  inline val ChildFromCounter = 33
  inline val BlockOpened = 34
  inline val RangeRetry = 35

  private val names: Array[String] =
    if !isOn then Array.empty[String]
    else
      Array(
        "slices",
        "lost CAS of a ring's tail",
        "lost CAS of a ring's head",
        "pushes to the overflow queue",
        "steals",
        "jobs moved by steals",
        "looks at all queues that found nothing",
        "standby raised",
        "lost CAS of the standby",
        "workers started",
        "workers unparked",
        "free slots taken",
        "slots taken from blocked workers",
        "lost CAS of a slot",
        "lost CAS of the idle workers",
        "rests of a standby without a slot",
        "rounds of a standby that searches",
        "hand-overs",
        "hand-overs that were queued",
        "calling threads listed",
        "workers listed",
        "entries of the fiber registry",
        "wake-ups of the watch",
        "alarms set",
        "alarms removed",
        "alarms rung",
        "timer locks found held",
        "wake-ups of the timer's thread",
        "looks of the timer's thread",
        "locks of primitives found held",
        "pauses for a lock of a primitive",
        "lost CAS of a Ref",
        "helper requests",
        "children taken from a shared counter",
        "blocks of children taken",
        "lost CAS of a range of children"
      )

  private val adders: Array[LongAdder] = Array.fill(names.length)(LongAdder())

  /** Counts one `event`, which is one of the constants above. */
  def count(event: Int): Unit = if isOn then adders(event).increment()

  /** Counts `n` times `event`. */
  def count(event: Int, n: Int): Unit = if isOn then adders(event).add(n.toLong)

  /** Returns the number of times that `event` has been counted; 0 if counting is off. */
  def value(event: Int): Long = if isOn then adders(event).sum else 0

  /** Returns the counts since the start, or since the last `reset`, by name. Counts of 0 are left
    * out. Empty if counting is off.
    */
  def snapshot: Seq[(String, Long)] =
    names.toSeq.zip(adders.toSeq.map(_.sum)).filter(_._2 != 0)

  /** Begins again at 0. Events that are counted meanwhile may be lost. */
  def reset(): Unit = adders.foreach(_.reset())

/** Counts the fibers that begin and end on threads that are not in the list of workers: the callers
  * of `runSync`, the threads of an execution context, and a worker that runs the job for which it
  * was started.
  *
  * A listed worker counts in fields of its own, without an atomic operation: `ExecutionThread`.
  */
private[runtime] final class FiberCounts:
  val begun, succeeded, failed, canceled = LongAdder()

  def sums: FiberSums = FiberSums(begun.sum, succeeded.sum, failed.sum, canceled.sum)

/** The number of fibers that have begun since the start, and of those that have ended, by outcome.
  *
  * A fiber counts as begun from its first slice. So the children of a group that run in place on
  * one runner are one fiber, and a fiber that never got a thread is none.
  */
private[weir] final case class FiberSums(
    begun: Long,
    succeeded: Long,
    failed: Long,
    canceled: Long
):
  def +(other: FiberSums): FiberSums =
    FiberSums(
      begun + other.begun,
      succeeded + other.succeeded,
      failed + other.failed,
      canceled + other.canceled
    )

  /** Returns the number of fibers that have begun and not ended. It is not negative, although a
    * fiber may begin and end while the threads are summed up.
    */
  def live: Long = math.max(0, begun - succeeded - failed - canceled)

private[weir] object FiberSums:
  val none: FiberSums = FiberSums(0, 0, 0, 0)

  private[runtime] def of(thread: ExecutionThread): FiberSums =
    FiberSums(
      thread.fibersBegun,
      thread.fibersSucceeded,
      thread.fibersFailed,
      thread.fibersCanceled
    )
