package weir.testkit

import java.util.concurrent.{Delayed, ScheduledFuture, TimeUnit}
import java.util.concurrent.TimeUnit.NANOSECONDS
import weir.runtime.{AlarmAfter, Timers}

/** The end of a timed wait of a virtual thread, by the clock of a test. */
private[testkit] final class CommandAlarm private (
    clock: Timers,
    delayNanos: Long,
    command: Runnable
) extends AlarmAfter(clock, delayNanos):
  def ring(): Unit = command.run()

  /** Virtual threads use only `cancel`. */
  private val future: ScheduledFuture[Unit] = new ScheduledFuture[Unit]:
    def cancel(interrupt: Boolean): Boolean = clock.remove(CommandAlarm.this)
    def isCancelled: Boolean = false
    def isDone: Boolean = dueNanos <= clock.nanoTime
    def get(): Unit = throw UnsupportedOperationException("get")
    def get(timeout: Long, unit: TimeUnit): Unit = throw UnsupportedOperationException("get")
    def getDelay(unit: TimeUnit): Long = unit.convert(dueNanos - clock.nanoTime, NANOSECONDS)
    def compareTo(other: Delayed): Int =
      java.lang.Long.compare(getDelay(NANOSECONDS), other.getDelay(NANOSECONDS))

private[testkit] object CommandAlarm:
  /** Runs `command` after `delayNanos`, when `clock` rings. */
  def set(clock: Timers, delayNanos: Long, command: Runnable): ScheduledFuture[?] =
    val alarm = new CommandAlarm(clock, delayNanos, command)
    clock.add(alarm)
    alarm.future
