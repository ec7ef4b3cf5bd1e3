package weir.sync

import weir.fiber.{Suspend, TaskFiber, WaitList}

/** A value that is set once, and the fibers that wait for it: the algorithm of `Deferred` and
  * `CountDownLatch`.
  *
  *   - **Shared**: `state` is written once, under the lock, and read without it. A fiber that finds
  *     it set does not wait.
  *   - **The race that we fear**: a fiber joins the line while the value is being set, and is never
  *     woken. So it reads `state` again under the lock, under which `state` is written; and the
  *     writer serves the line afterwards.
  *   - Each waiter is served in a critical section of its own. So a cancelled fiber, which needs
  *     the lock to leave the line, does not wait until a million others are served.
  */
private[weir] abstract class OneShot[A] extends Guarded:

  // shared
  @volatile private[sync] var state: Any = OneShot.Unset

  // under the lock
  private val line = WaitList()

  final private[weir] def awaitSet: Suspend[A] = new OneShot.Wait[A]:
    def isSet: Boolean = !isUnset
    def begin(fiber: TaskFiber): Any =
      val present = state
      if present.asInstanceOf[AnyRef] ne OneShot.Unset then present
      else
        locked(fiber) {
          if state.asInstanceOf[AnyRef] ne OneShot.Unset then state
          else
            val entry = GuardedEntry(fiber, line, OneShot.this)
            line.add(entry)
            entry
        }

  /** Sets the value if it is not set. Returns true if this call has set it, false if it was set
    * before. Called by `fiber`.
    */
  final private[weir] def set(fiber: TaskFiber, value: A): Boolean =
    var more = false
    val first = isUnset && locked(fiber) {
      val unset = isUnset
      if unset then
        state = value
        more = serveOne(value)
      unset
    }
    while more do more = locked(fiber)(serveOne(value))
    first

  /** Under the lock: serves the next waiter. Returns true if there are more. */
  private def serveOne(value: A): Boolean =
    val entry = line.poll()
    if entry ne null then hand(entry, value): Unit
    !line.isEmpty

  final private[weir] def isUnset: Boolean = state.asInstanceOf[AnyRef] eq OneShot.Unset

  /** Returns the value, once it is set. */
  final private[weir] def present: A = state.asInstanceOf[A]

  final private[weir] def leave(entry: GuardedEntry): Unit = locked(entry.fiber)(entry.leaveList())

private[weir] object OneShot:
  /** The wait for the value. */
  abstract class Wait[A] extends Suspend[A]:
    /** Returns true if the value is there, so that nothing waits. */
    def isSet: Boolean

  private object Unset
