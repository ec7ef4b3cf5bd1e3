package weir.stream

import weir.fiber.{Awaited, TaskFiber, WaitList}
import weir.runtime.Alarm
import weir.sync.{Guarded, GuardedEntry}

/** The lock of the state of a stage, at which fibers wait for changes. See `Guarded`: under it no
  * user's code runs, nothing is forked, and nothing waits.
  */
private[stream] final class StageLock extends Guarded:
  private[weir] def awaitedAs: String = "a stage of a stream"
  private[weir] def leave(entry: GuardedEntry): Unit = locked(entry.fiber)(entry.leaveList())

/** The place of the one fiber that waits for the state of a stage to change.
  *
  *   - **Under `lock`**: all methods.
  *   - **Invariant**: with the lock free, the state has nothing for the fiber that waits here. It
  *     looks and enters in one critical section (`lookOrWait`). Code that changes the state calls
  *     `wake` or `give` in the section of the change. The fiber is woken once the lock is free.
  *   - **A wake-up says only that there may be something**: the fiber looks again (`repeat`). So a
  *     wait that is cancelled loses nothing. After `give` the fiber does not look again. If `give`
  *     returns false, the wait was cancelled, and the giver still has the value.
  *   - **One fiber**: a fiber that enters replaces the one before, whose wait has ended by a
  *     wake-up, a time or a cancel.
  *
  * @param outside what a dump says of the wait, if code outside of the runtime ends it
  */
private[stream] final class WaitSlot(lock: StageLock, outside: Awaited | Null = null):
  private var waiting: WaitSlot.Waiting | Null = null

  def enter(fiber: TaskFiber): WaitSlot.Waiting =
    val entry = WaitSlot.Waiting(fiber, lock, outside)
    if outside ne null then fiber.runtime.waitsOutside(entry)
    waiting = entry
    entry

  /** As `enter`, but the fiber looks again at `dueNanos`, even if nobody wakes it. It sets the
    * alarm itself, once the lock is free, and removes it when it is woken.
    */
  def enterUntil(fiber: TaskFiber, dueNanos: Long): WaitSlot.Timed =
    val entry = WaitSlot.Timed(fiber, lock, dueNanos)
    waiting = entry
    entry

  /** Makes the waiting fiber look again, if there is one. */
  def wake(): Unit = give(WaitSlot.Nothing): Unit

  /** Gives `value` to the waiting fiber. Returns false if there is none. */
  def give(value: Any): Boolean =
    val entry = waiting
    waiting = null
    (entry ne null) && lock.hand(entry, value)

private[stream] object WaitSlot:
  /** The state has nothing for the fiber. */
  object Nothing

  inline def isNothing(found: Any): Boolean = found.asInstanceOf[AnyRef] eq Nothing

  /** Takes the lock, and returns the result of `look`. If that is `Nothing`, makes `fiber` wait in
    * `slot`.
    */
  inline def lookOrWait(lock: StageLock, slot: WaitSlot, fiber: TaskFiber)(
      inline look: Any
  ): Any = lock.locked(fiber) {
    val found: Any = look
    if isNothing(found) then slot.enter(fiber) else found
  }

  /** Evaluates `ask`, which looks or waits, until it returns more than `Nothing`. */
  inline def repeat(inline ask: Any): Any =
    var found: Any = Nothing
    while isNothing(found) do found = ask
    found

  private val noList = WaitList()

  sealed class Waiting(fiber: TaskFiber, lock: StageLock, outside: Awaited | Null = null)
      extends WaitList.Entry(fiber, noList, lock):
    /** Leaves the entry in its slot, until the next one replaces it or a change tries to wake it,
      * which the entry refuses.
      */
    override def abandon(): Unit = ()
    override def awaited: Awaited | Null = outside

  final class Timed(fiber: TaskFiber, lock: StageLock, val dueNanos: Long)
      extends Waiting(fiber, lock),
        Alarm:
    def ring(): Unit = complete(Nothing): Unit
    def set(): Unit = fiber.runtime.timers.add(this, fiber.preferredShard)
    override def abandon(): Unit = fiber.runtime.timers.remove(this): Unit
