package weir.kernel

import weir.runtime.Alarm

/** Waits until an alarm of the shared timer rings. */
private[weir] final class Sleep(nanos: Long) extends Suspend[Unit]:
  def begin(fiber: RunLoop): Any =
    if nanos <= 0 then ()
    else
      val wait = SleepWaiter(fiber, nanos)
      fiber.runtime.timers.add(wait.alarm)
      wait

private final class SleepWaiter(fiber: RunLoop, nanos: Long) extends Waiter(fiber):
  val alarm: Alarm = new Alarm(fiber.runtime.timers, nanos):
    def ring(): Unit = complete(()): Unit

  override def abandon(): Unit = fiber.runtime.timers.remove(alarm): Unit
