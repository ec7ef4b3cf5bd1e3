package weir.stream

import weir.fiber.{Suspend, TaskFiber}
import weir.runtime.Alarm

/** A stage with state that fibers of its own change, and that its consumer waits for, with or
  * without a time at which it looks again.
  *
  *   - **Shared, under `lock`**: the state of the subclass.
  *   - **The race we fear**: the state changes after the consumer has looked and before it waits.
  *     `WaitSlot` explains why this does not happen.
  */
private[stream] abstract class ConsumerState extends ConcurrentStage:
  final protected val lock = StageLock()
  final protected val consumer = WaitSlot(lock)

  // consumer only
  private var alarm: WaitSlot.Timed | Null = null

  /** Under the lock: returns the answer for the consumer, or `WaitSlot.Nothing`. */
  protected def answer(fiber: TaskFiber): Any

  /** Under the lock, after `Nothing`: returns true if the consumer looks again at `dueNanos`, even
    * if nobody wakes it.
    */
  protected def hasDue: Boolean = false

  protected var dueNanos = 0L

  final protected def dueIn(fiber: TaskFiber, nanos: Long): Unit =
    dueNanos = Alarm.due(fiber.runtime.timers, nanos)

  final protected def isDue(fiber: TaskFiber): Boolean =
    fiber.runtime.timers.nanoTime - dueNanos >= 0

  final protected def awaitAnswer(fiber: TaskFiber): Any = WaitSlot.repeat {
    val found = Observation.awaitInput(fiber, Question)
    removeAlarm()
    found
  }

  private def removeAlarm(): Unit =
    val set = alarm
    alarm = null
    if set ne null then set.abandon()

  private object Question extends Suspend[Any]:
    def begin(fiber: TaskFiber): Any =
      val found = lock.locked(fiber) {
        val found = answer(fiber)
        if !WaitSlot.isNothing(found) then found
        else if hasDue then consumer.enterUntil(fiber, dueNanos)
        else consumer.enter(fiber)
      }
      found match
        case timed: WaitSlot.Timed =>
          alarm = timed
          timed.set()
        case _ => ()
      found
