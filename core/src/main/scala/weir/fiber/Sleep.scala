package weir.fiber

import weir.runtime.{Alarm, DurationText, Job}

/** Waits until an alarm of the shared timer rings. */
private[weir] final class Sleep(nanos: Long) extends Suspend[Unit]:
  def begin(fiber: TaskFiber): Any =
    if nanos <= 0 then ()
    else
      val timers = fiber.runtime.timers
      val wait = SleepWaiter(fiber, Alarm.due(timers, nanos))
      timers.add(wait, fiber.preferredShard)
      wait

/** The waiter of a sleep. It is the alarm too, which saves an object for each fiber that sleeps. */
private final class SleepWaiter(fiber: TaskFiber, val dueNanos: Long)
    extends Waiter(fiber),
      Alarm,
      Awaited:
  def ring(): Unit = complete(()): Unit
  override def sleeper: Job = fiber

  override def isFound: Boolean = true
  override def awaited: Awaited = this
  def awaitedAs: String =
    s"Task.sleep, due in ${DurationText(math.max(0, dueNanos - fiber.runtime.timers.nanoTime))}"

  override def abandon(): Unit = fiber.runtime.timers.remove(this): Unit

/** Waits until it is cancelled. */
private[weir] object Never extends Suspend[Nothing], Awaited:
  def begin(fiber: TaskFiber): Any = new Waiter(fiber):
    override def awaited: Awaited = Never

  def awaitedAs: String = "nothing: Task.never"
