package weir.runtime

import java.time.Instant
import scala.annotation.unused

/** The clock of a runtime, with its alarms: the machine's (`SystemTimers`), or that of a test. */
private[weir] abstract class Timers:

  /** Returns the time by which alarms ring, in nanoseconds from an arbitrary moment. */
  def nanoTime: Long

  /** Returns the time of day. */
  def realTime: Instant

  /** Sets the alarm. It rings once, at `alarm.dueNanos` or shortly after, unless it is removed
    * first.
    */
  def add(alarm: Alarm): Unit

  /** As above, from a thread that prefers this shard of the scheduler. */
  def add(alarm: Alarm, @unused preferredShard: Int): Unit = add(alarm)

  /** Removes the alarm. Returns false if it has rung, is about to ring, or was removed before. */
  def remove(alarm: Alarm): Boolean

  /** Returns the number of alarms that are set. */
  def size: Int

  /** Returns the fibers that sleep until an alarm rings. */
  def sleepers: Iterator[Job] = Iterator.empty

/** An action at a given time, once. */
private[weir] trait Alarm:
  /** Returns the time at which it is due, by `Timers.nanoTime`. */
  def dueNanos: Long

  /** Its index in the heap, under the timer's lock; -1 while it is not there. */
  private[runtime] var index: Int = -1

  /** The timer's shard that it is in, or was in last. Written before it is added. It is a byte, to
    * keep a fiber that sleeps small.
    */
  private[runtime] var shard: Byte = 0

  /** Returns the fiber that sleeps until it rings; null for other alarms. */
  def sleeper: Job | Null = null

  /** Called on the timer's thread. Should neither block nor throw: other alarms would be late. */
  def ring(): Unit

private[weir] object Alarm:
  /** Returns the time `delayNanos` from now, at most 146 years ahead, so that no difference of two
    * overflows.
    */
  def due(timers: Timers, delayNanos: Long): Long =
    timers.nanoTime + math.min(delayNanos, Long.MaxValue / 2)

/** An alarm that is due `delayNanos` after it was made. */
private[weir] abstract class AlarmAfter(timers: Timers, delayNanos: Long) extends Alarm:
  final val dueNanos: Long = Alarm.due(timers, delayNanos)
