package weir.sync

import weir.kernel.{RunLoop, Suspend}

/** A value that is set once, and a line of fibers that wait for it: the algorithm of `Deferred` and `CountDownLatch`.
  *
  *   - **Shared**: `state` is written once, under the lock, and read without: whoever finds it set does not wait.
  *   - **The race that we fear**: one joins the line while the value is set, and is woken by nobody. It looks at `state` again under the
  *     lock, under which it is written; and whoever has written it serves the line afterwards.
  *   - The line is served one by one, so that a cancel of one of a million who wait does not wait for all.
  */
private[weir] abstract class OneShot[A] extends Guarded:

  // shared
  @volatile private var state: Any = OneShot.Unset

  // under the lock
  private val line = WaitList()

  final private[weir] def awaitSet: Suspend[A] = new Suspend[A]:
    def begin(fiber: RunLoop): Any =
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

  /** True if this call has set the value; false if it was set before. On the thread of `fiber`. */
  final private[weir] def set(fiber: RunLoop, value: A): Boolean =
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

  /** True if others are still in line. */
  private def serveOne(value: A): Boolean =
    val entry = line.poll()
    if entry ne null then hand(entry, value): Unit
    !line.isEmpty

  final private[weir] def isUnset: Boolean = state.asInstanceOf[AnyRef] eq OneShot.Unset

  /** The value, once it is set. */
  final private[weir] def present: A = state.asInstanceOf[A]

  final private[weir] def leave(entry: GuardedEntry): Unit = locked(entry.fiber)(entry.leaveList())

private[weir] object OneShot:
  private object Unset
