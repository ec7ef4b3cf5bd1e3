package weir

import weir.fiber.{Suspend, TaskFiber}
import weir.sync.OneShot

/** A value that is set once, and that fibers can wait for. */
final class Deferred[A] private () extends OneShot[A]:

  /** Returns the value. **Waits** until it is set. **Cancelled** while it waits: has no effect on
    * others.
    * {{{
    * val greeted = Deferred[User].flatMap { user =>
    *   user.get.map(u => s"hello ${u.name}").both(load(id).flatMap(user.complete))
    * }
    * }}}
    */
  val get: Task[A] = awaitSet

  /** Returns the value if it is set. */
  def tryGet: Task[Option[A]] = Task.delay(if isUnset then None else Some(present))

  /** Sets the value if it is not set. Returns true if this call has set it, false if it was set
    * before.
    */
  def complete(value: A): Task[Boolean] = new Suspend[Boolean]:
    def begin(fiber: TaskFiber): Any = set(fiber, value)

  private[weir] def awaitedAs: String = "Deferred, which is not set"

object Deferred:
  /** Returns a new deferred value, which is not set. */
  def apply[A]: Task[Deferred[A]] = Task.delay(unsafe[A])

  /** As `apply`, but makes it at once, for use outside of tasks. */
  def unsafe[A]: Deferred[A] = new Deferred[A]()
