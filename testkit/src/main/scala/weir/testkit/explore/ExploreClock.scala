package weir.testkit.explore

import java.time.Instant
import java.util.concurrent.{ForkJoinPool, ScheduledFuture, TimeUnit}
import java.util.function.LongSupplier
import scala.collection.mutable.ArrayBuffer
import weir.runtime.{Alarm, Timers}
import weir.testkit.CommandAlarm

/** The clock of an explored program. It moves when nothing can run, or before any step with early
  * timers, to the time of the next alarms. They are then due together: their order is a choice.
  * Used by one thread at a time.
  *
  * @param touched called before each access of the program's
  * @param removed called when an alarm was removed before it was due
  * @param removedDue removes an alarm that is due; returns false if it rings
  */
private[explore] final class ExploreClock(
    touched: () => Unit,
    removed: () => Unit,
    removedDue: Alarm => Boolean
) extends Timers:
  private val alarms = ArrayBuffer[Alarm]()
  private val begin = 1_000_000_000L
  private var now = begin

  def nanoTime: Long =
    touched()
    now

  def realTime: Instant =
    touched()
    Instant.ofEpochSecond(0, elapsedNanos)
  def elapsedNanos: Long = now - begin
  def size: Int = alarms.size

  def add(alarm: Alarm): Unit =
    touched()
    alarms += alarm

  def remove(alarm: Alarm): Boolean =
    touched()
    val index = alarms.indexWhere(_ eq alarm)
    if index >= 0 then
      alarms.remove(index): Unit
      removed()
    index >= 0 || removedDue(alarm)

  def reset(): Unit =
    alarms.clear()
    now = begin

  /** Moves to the time of the next alarms, and takes out and returns those that are due, in the
    * order in which they were set.
    */
  def jump(): List[Alarm] =
    if alarms.isEmpty then Nil
    else
      now = math.max(now, alarms.iterator.map(_.dueNanos).min)
      val due = alarms.iterator.filter(_.dueNanos <= now).toList
      alarms.filterInPlace(_.dueNanos > now): Unit
      due

/** The executor to which the virtual threads of explored programs are sent when they can go on. */
private[explore] final class Carrier extends ForkJoinPool(1), LongSupplier:
  var execution: StrandRunner | Null = null

  override def execute(continuation: Runnable): Unit = execution.nn.canGoOn(continuation)

  override def schedule(command: Runnable, delay: Long, unit: TimeUnit): ScheduledFuture[?] =
    CommandAlarm.set(execution.nn.clock, unit.toNanos(delay), command)

  def getAsLong: Long = execution.nn.clock.nanoTime
