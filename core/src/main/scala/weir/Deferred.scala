package weir

import weir.kernel.{RunLoop, Suspend}
import weir.sync.OneShot

/** A value that is set once, and that fibers can wait for. */
final class Deferred[A] private () extends OneShot[A]:

  /** The value. '''Waits''' until it is set. '''Cancelled''': stops waiting. */
  val get: Task[A] = awaitSet

  /** The value if it is set. */
  def tryGet: Task[Option[A]] = Task.delay(if isUnset then None else Some(present))

  /** True if this call has set the value; false if it was set before. */
  def complete(value: A): Task[Boolean] = new Suspend[Boolean]:
    def begin(fiber: RunLoop): Any = set(fiber, value)

  def awaitedAs: String = "Deferred, which is not set"

object Deferred:
  /** A new one, not set. */
  def apply[A]: Task[Deferred[A]] = Task.delay(unsafe[A])

  /** A new one, made at once, for use outside of tasks. */
  def unsafe[A]: Deferred[A] = new Deferred[A]()
