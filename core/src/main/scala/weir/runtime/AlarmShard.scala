package weir.runtime

import java.lang.invoke.{MethodHandles, VarHandle}
import java.util.concurrent.locks.LockSupport
import scala.annotation.static

/** The alarms that are set from one shard, under a lock of its own.
  *
  *   - **Lock**: held for a few instructions, or for as long as `Tuning.alarmsAtOnce` alarms are
  *     taken out. No thread leaves its carrier for it at once: that costs as much as a hundred
  *     alarms. It is released by a write of a field, which needs no frame: where the user's stack
  *     overflows in the middle, the lock is free again.
  *   - **`looksAt`**: when the timer's thread looks here next, at the latest. Written under the
  *     lock, read without. It is never later than the first alarm, and stays where it was set for
  *     an alarm that has been removed: another such one is likely to follow, and would wake the
  *     thread again. `Never` where no look is needed, as there is no alarm.
  *   - **Padded**, so that no two shards share a cache line.
  */
private[runtime] abstract class AlarmShard extends PaddedFront:

  // shared
  @volatile private var held = 0
  @volatile final private[runtime] var looksAt: Long = AlarmShard.Never

  // shared, under the lock
  private val alarms = AlarmHeap()

  /** Adds `alarm`. True if the timer's thread has to look sooner than it would. */
  final def add(alarm: Alarm): Boolean = locked:
    alarms.add(alarm)
    val due = AlarmShard.look(alarm)
    val isSooner = AlarmShard.isBefore(due, looksAt)
    if isSooner then looksAt = due
    isSooner

  /** False if the alarm is not here any more. */
  final def remove(alarm: Alarm): Boolean = locked(alarms.remove(alarm))

  /** Moves what is due at `now` to `due`, as far as there is room. Returns how many alarms that
    * are. To be called by the timer's thread once `looksAt` is over, which is set for the next
    * look.
    */
  final def takeDue(due: Array[Alarm | Null], now: Long): Int = locked:
    var count = 0
    var first = alarms.first
    while count < due.length && (first ne null) && first.dueNanos - now <= 0 do
      due(count) = first
      alarms.remove(first): Unit
      count += 1
      first = alarms.first
    looksAt = if first eq null then AlarmShard.Never else AlarmShard.look(first)
    count

  final def size: Int = locked(alarms.size)

  /** All alarms, in no order. */
  final def all: Array[Alarm | Null] = locked(alarms.all)

  private inline def locked[A](inline body: A): A =
    if !tryLock() then lockHeld()
    try body
    finally held = 0

  private def tryLock(): Boolean = held == 0 && AlarmShard.Held.compareAndSet(this, 0, 1)

  private def lockHeld(): Unit =
    Counters.count(Counters.TimerLockHeld)
    var tries = 0
    while !tryLock() do
      tries += 1
      // The holder must have lost its core: this thread leaves it its own.
      if tries % Tuning.lockTriesPerYield == 0 then LockSupport.parkNanos(Tuning.alarmLockNanos)
      else Pause.nanos(Tuning.backoffFirstNanos)

private[runtime] object AlarmShard:
  @static private val Held: VarHandle =
    MethodHandles.lookup().findVarHandle(classOf[AlarmShard], "held", classOf[Int])

  def apply(): AlarmShard = new Padded

  private final class Padded extends AlarmShard, Padding

  /** The `looksAt` of a shard at which nobody looks. */
  inline val Never = Long.MaxValue

  /** When to look for `alarm`. */
  private def look(alarm: Alarm): Long =
    val due = alarm.dueNanos
    if due == Never then due - 1 else due

  /** Whether a look at `look` is before one at `other`. */
  def isBefore(look: Long, other: Long): Boolean =
    look != Never && (other == Never || look - other < 0)
