package weir.stream

import weir.fiber.{Suspend, TaskFiber, Waiter}
import weir.runtime.Alarm

/** A pull with state that fibers of its own change, and that its consumer waits for, with or
  * without a time at which it looks again.
  *
  *   - **Shared, under this object's lock**: `consumer`, and the state of the subclass.
  *   - **The race we fear**: the state changes after the consumer has looked and before it waits.
  *     It looks and begins to wait in one critical section, and whoever changes the state wakes it
  *     in the same section as the change. After each wake-up it looks again.
  */
private[stream] abstract class ConsumerState extends Pull:
  // shared, under this object's lock
  private var consumer: Waiter | Null = null

  override def hasFibers: Boolean = true

  /** Under the lock: what the consumer gets, or `NoAnswer`. */
  protected def answer(fiber: TaskFiber): Any

  /** Under the lock, after `NoAnswer`: whether the consumer looks again at `dueNanos`, though
    * nobody wakes it.
    */
  protected def hasDue: Boolean = false

  protected var dueNanos = 0L

  final protected def dueIn(fiber: TaskFiber, nanos: Long): Unit =
    dueNanos = Alarm.due(fiber.runtime.timers, nanos)

  final protected def isDue(fiber: TaskFiber): Boolean =
    fiber.runtime.timers.nanoTime - dueNanos >= 0

  final protected def awaitAnswer(fiber: TaskFiber): Any =
    var found = Observation.awaitInput(fiber, Question)
    while isNoAnswer(found) do found = Observation.awaitInput(fiber, Question)
    found

  private def isNoAnswer(found: Any): Boolean =
    found.asInstanceOf[AnyRef] eq ConsumerState.NoAnswer

  private object Question extends Suspend[Any]:
    def begin(fiber: TaskFiber): Any = ConsumerState.this.synchronized {
      val found = answer(fiber)
      if isNoAnswer(found) then
        val waiter = if hasDue then ConsumerState.Timed(fiber, dueNanos) else Waiter(fiber)
        waiter match
          case timed: ConsumerState.Timed => fiber.runtime.timers.add(timed, fiber.preferredShard)
          case _ => ()
        consumer = waiter
        waiter
      else found
    }

  /** Under the lock: has the consumer look again, if it waits. */
  final protected def wakeConsumer(): Unit =
    val waiter = consumer
    consumer = null
    if waiter ne null then
      waiter.complete(ConsumerState.NoAnswer): Unit
      waiter.abandon() // removes its alarm

private[stream] object ConsumerState:
  /** Nothing for the consumer yet. */
  object NoAnswer

  private final class Timed(fiber: TaskFiber, val dueNanos: Long) extends Waiter(fiber), Alarm:
    def ring(): Unit = complete(NoAnswer): Unit
    override def abandon(): Unit = fiber.runtime.timers.remove(this): Unit
