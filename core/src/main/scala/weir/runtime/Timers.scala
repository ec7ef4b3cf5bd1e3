package weir.runtime

import java.time.Instant
import scala.annotation.unused

/** The clock of a runtime, with its alarms: the machine's (`SystemTimers`), or that of a test. */
private[weir] abstract class Timers:

  /** The time by which alarms ring, in nanoseconds from an arbitrary moment. */
  def nanoTime: Long

  /** The time of day. */
  def realTime: Instant

  /** Sets the alarm. It rings once, at `alarm.dueNanos` or shortly after, unless it is removed
    * first.
    */
  def add(alarm: Alarm): Unit

  /** As above, from a thread that prefers this shard of the scheduler. */
  def add(alarm: Alarm, @unused preferredShard: Int): Unit = add(alarm)

  /** False if the alarm has rung, is about to ring, or was removed before. */
  def remove(alarm: Alarm): Boolean

  /** How many alarms are set. */
  def size: Int

  /** The fibers that sleep until an alarm rings. */
  def sleepers: Iterator[Job] = Iterator.empty

/** Something to be done at a given time, once. */
private[weir] trait Alarm:
  /** When it is due, by `Timers.nanoTime`. */
  def dueNanos: Long

  /** Its index in the heap, under the timer's lock; -1 while it is not there. */
  private[runtime] var index: Int = -1

  /** The timer's shard that it is in, or was in last. Written before it is added. A byte, for the
    * size of a fiber that sleeps.
    */
  private[runtime] var shard: Byte = 0

  /** The fiber that sleeps until it rings; null for other alarms. */
  def sleeper: Job | Null = null

  /** Called on the timer's thread. Should neither block nor throw: other alarms would be late. */
  def ring(): Unit

private[weir] object Alarm:
  /** The time `delayNanos` from now, at most 146 years ahead, so that no difference of two
    * overflows.
    */
  def due(timers: Timers, delayNanos: Long): Long =
    timers.nanoTime + math.min(delayNanos, Long.MaxValue / 2)

/** An alarm that is due `delayNanos` after it was made. */
private[weir] abstract class AlarmAfter(timers: Timers, delayNanos: Long) extends Alarm:
  final val dueNanos: Long = Alarm.due(timers, delayNanos)
