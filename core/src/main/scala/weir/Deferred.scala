package weir

import weir.kernel.{RunLoop, Suspend}
import weir.sync.WaitList

/** A value that is set once, and that fibers can wait for. */
final class Deferred[A] private ():
  // shared, under this object's lock
  private val waiting = WaitList()
  @volatile private var state: Any = Deferred.Empty

  /** The value. '''Waits''' until it is set. '''Cancelled''': stops waiting. */
  val get: Task[A] = new Suspend[A]:
    def begin(fiber: RunLoop): Any =
      val present = state
      if present.asInstanceOf[AnyRef] ne Deferred.Empty then present
      else
        Deferred.this.synchronized {
          if state.asInstanceOf[AnyRef] ne Deferred.Empty then state
          else
            val entry = WaitList.Entry(fiber, waiting, Deferred.this)
            waiting.add(entry)
            entry
        }

  /** The value if it is set. */
  def tryGet: Task[Option[A]] = Task.delay {
    val present = state
    if present.asInstanceOf[AnyRef] eq Deferred.Empty then None else Some(present.asInstanceOf[A])
  }

  /** True if this call has set the value; false if it was set before. */
  def complete(value: A): Task[Boolean] = Task.delay {
    val first = synchronized {
      val empty = state.asInstanceOf[AnyRef] eq Deferred.Empty
      if empty then state = value
      empty
    }
    if first then
      var entry = synchronized(waiting.poll())
      while entry ne null do
        entry.complete(value): Unit
        entry = synchronized(waiting.poll())
    first
  }

object Deferred:
  private object Empty

  /** A new one, not set. */
  def apply[A]: Task[Deferred[A]] = Task.delay(unsafe[A])

  /** A new one, made at once, for use outside of tasks. */
  def unsafe[A]: Deferred[A] = new Deferred[A]()
