package weir

import scala.compiletime.uninitialized
import weir.fiber.TaskFiber
import weir.sync.{Permits, WithPermits}

/** A lock for tasks: one of them runs at a time. Fair: fibers that wait get the lock in the order
  * in which they came.
  *
  * It is not reentrant: a fiber that asks for a mutex which it holds waits for itself, for ever. A
  * fiber dump names the holder, and shows that as a cycle.
  */
final class Mutex private () extends Permits(1):

  // written under the lock; a dump reads it without
  @volatile private var holder: TaskFiber | Null = uninitialized

  /** What `task` returns, run while no other task holds the mutex.
    *
    * **Waits** while another task holds it. **Cancelled** while it waits: `task` does not begin.
    */
  def withLock[A](task: Task[A]): Task[A] = WithPermits(this, 1, task)

  /** True if a task holds the mutex. */
  def isLocked: Task[Boolean] = Task.delay(holder ne null)

  override private[weir] def granted(fiber: TaskFiber): Unit = holder = fiber
  override private[weir] def returned(): Unit = holder = null

  private[weir] def awaitedAs: String = awaitedBy("Mutex")

  override private[weir] def holders: Iterator[TaskFiber] =
    val fiber = holder
    if fiber eq null then Iterator.empty else Iterator.single(fiber)

object Mutex:
  /** A new mutex, not held. */
  def apply(): Task[Mutex] = Task.delay(unsafe())

  /** As `apply`, made at once, for use outside of tasks. */
  def unsafe(): Mutex = new Mutex()
