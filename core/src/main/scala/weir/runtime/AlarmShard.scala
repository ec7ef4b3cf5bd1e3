package weir.runtime

import java.lang.invoke.{MethodHandles, VarHandle}
import java.util.concurrent.locks.LockSupport
import scala.annotation.static

/** The alarms that are set from one shard, under a lock of its own.
  *
  *   - **Lock**: held for a few instructions, or for as long as it takes to take out
  *     `Tuning.alarmsAtOnce` alarms. A thread that finds the lock held does not leave its carrier
  *     at once: that costs as much as a hundred alarms. The lock is released by a write of a field,
  *     which needs no frame: if the user's stack overflows in the middle, the lock is free again.
  *   - **`looksAt`**: the time at which the timer's thread looks here next, at the latest. Written
  *     under the lock, read without. It is never later than the first alarm. When an alarm is
  *     removed, it keeps its value: another such alarm is likely to follow, and would wake the
  *     thread again. It is `Never` if no look is needed, because there is no alarm.
  *   - **Padded**, so that no two shards share a cache line.
  */
private[runtime] abstract class AlarmShard extends PaddedFront:

  // shared
  @volatile private var held = 0
  @volatile final private[runtime] var looksAt: Long = AlarmShard.Never

  // shared, under the lock
  private val alarms = AlarmHeap()

  /** Adds `alarm`. Returns true if the timer's thread has to look sooner than it would. */
  final def add(alarm: Alarm): Boolean = locked:
    alarms.add(alarm)
    val due = AlarmShard.look(alarm)
    val isSooner = AlarmShard.isBefore(due, looksAt)
    if isSooner then looksAt = due
    isSooner

  /** Removes `alarm`. Returns false if it is not here any more. */
  final def remove(alarm: Alarm): Boolean = locked(alarms.remove(alarm))

  /** Moves the alarms that are due at `now` to `due`, as far as there is room, and returns their
    * number. Must be called by the timer's thread once `looksAt` is over. Sets `looksAt` for the
    * next look.
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

  /** Returns all alarms, in no order. */
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
      // The holder must have lost its core: this thread leaves its own core to the holder.
      if tries % Tuning.lockTriesPerYield == 0 then LockSupport.parkNanos(Tuning.alarmLockNanos)
      else Pause.nanos(Tuning.backoffFirstNanos)

private[runtime] object AlarmShard:
  @static private val Held: VarHandle =
    MethodHandles.lookup().findVarHandle(classOf[AlarmShard], "held", classOf[Int])

  def apply(): AlarmShard = new Padded

  private final class Padded extends AlarmShard, Padding

  /** The `looksAt` of a shard at which nobody looks. */
  inline val Never = Long.MaxValue

  /** Returns the time of the look for `alarm`. */
  private def look(alarm: Alarm): Long =
    val due = alarm.dueNanos
    if due == Never then due - 1 else due

  /** Returns true if a look at the time `look` is before one at `other`. */
  def isBefore(look: Long, other: Long): Boolean =
    look != Never && (other == Never || look - other < 0)
