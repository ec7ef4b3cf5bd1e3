package weir.runtime

import java.time.Instant

/** The clock of a runtime, and the alarms that are set by it. A test's clock is another one than the machine's. */
private[weir] abstract class Timers:

  /** The clock that alarms are set by, in nanoseconds from an arbitrary moment. */
  def nanoTime: Long

  /** The time of day. */
  def realTime: Instant

  /** Sets the alarm; it rings once, at `alarm.dueNanos` or shortly after, unless it is removed first. */
  def add(alarm: Alarm): Unit

  /** False if the alarm has rung, is about to, or was removed before. */
  def remove(alarm: Alarm): Boolean

  /** Alarms that are set. */
  def size: Int

  /** The fibers whose alarms are set. */
  def sleepers: Iterator[Job] = Iterator.empty

/** What a timer rings, once. */
private[weir] trait Alarm:
  /** When, on the clock of the timer. */
  def dueNanos: Long

  /** Where it stands in the heap, under the timer's lock; -1 when it does not. */
  private[runtime] var place: Int = -1

  /** The fiber that sleeps until it rings, if that is what it is for. */
  def sleeper: Job | Null = null

  /** Called on the timer's thread. Must neither block nor throw. */
  def ring(): Unit

private[weir] object Alarm:
  /** `delayNanos` from now; at most 146 years ahead, so that the difference of any two does not overflow. */
  def due(timers: Timers, delayNanos: Long): Long =
    timers.nanoTime + math.min(delayNanos, Long.MaxValue / 2)

/** An alarm that is nothing else, `delayNanos` after it was made. */
private[weir] abstract class AlarmAfter(timers: Timers, delayNanos: Long) extends Alarm:
  final val dueNanos: Long = Alarm.due(timers, delayNanos)
