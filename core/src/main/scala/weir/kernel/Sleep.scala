package weir.kernel

import weir.runtime.{Alarm, Job}
import weir.sync.Awaited
import weir.trace.DurationText

/** Waits until an alarm of the shared timer rings. */
private[weir] final class Sleep(nanos: Long) extends Suspend[Unit]:
  def begin(fiber: RunLoop): Any =
    if nanos <= 0 then ()
    else
      val timers = fiber.runtime.timers
      val wait = SleepWaiter(fiber, Alarm.due(timers, nanos))
      timers.add(wait)
      wait

/** The wait is the alarm, which saves an object for each fiber that sleeps. */
private final class SleepWaiter(fiber: RunLoop, val dueNanos: Long)
    extends Waiter(fiber),
      Alarm,
      Awaited:
  def ring(): Unit = complete(()): Unit
  override def sleeper: Job = fiber

  override def isFound: Boolean = true
  override def awaited: Awaited = this
  def awaitedAs: String =
    s"Task.sleep, due in ${DurationText(dueNanos - fiber.runtime.timers.nanoTime)}"

  override def abandon(): Unit = fiber.runtime.timers.remove(this): Unit
