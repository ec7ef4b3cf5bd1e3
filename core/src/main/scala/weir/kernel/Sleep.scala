package weir.kernel

import weir.runtime.{Alarm, Job}
import weir.sync.Awaited
import weir.trace.DurationText

/** Waits until an alarm of the shared timer rings. */
private[weir] final class Sleep(nanos: Long) extends Suspend[Unit]:
  def begin(fiber: RunLoop): Any =
    if nanos <= 0 then ()
    else
      val wait = SleepWaiter(fiber, nanos)
      fiber.runtime.timers.add(wait.alarm)
      wait

private final class SleepWaiter(fiber: RunLoop, nanos: Long) extends Waiter(fiber), Awaited:
  val alarm: Alarm = new Alarm(fiber.runtime.timers, nanos):
    def ring(): Unit = complete(()): Unit
    override def sleeper: Job = SleepWaiter.this.fiber

  override def isFound: Boolean = true
  override def awaited: Awaited = this
  def awaitedAs: String =
    s"Task.sleep, due in ${DurationText(alarm.dueNanos - fiber.runtime.timers.nanoTime)}"

  override def abandon(): Unit = fiber.runtime.timers.remove(alarm): Unit
