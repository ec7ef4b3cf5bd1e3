package weir

import scala.compiletime.uninitialized
import weir.fiber.TaskFiber
import weir.metrics.NamedMetrics
import weir.sync.{Permits, WithPermits}

/** A lock for tasks: only one of them runs at a time. It is fair: waiting fibers get the lock in
  * the order in which they came.
  *
  * It is not reentrant: a fiber that asks for a mutex which it holds waits for itself, for ever. A
  * fiber dump names the holder, and shows that as a cycle.
  */
final class Mutex private () extends Permits(1):

  // written under the lock; a dump reads it without
  @volatile private var holder: TaskFiber | Null = uninitialized

  /** Runs `task` while no other task holds the mutex, and returns its value.
    *
    * **Waits** while another task holds it. **Cancelled** while it waits: `task` does not begin.
    */
  def withLock[A](task: Task[A]): Task[A] = WithPermits(this, 1, task)

  /** Returns true if a task holds the mutex. */
  def isLocked: Task[Boolean] = Task.delay(holder ne null)

  /** Names this mutex: `WeirRuntime.metrics` then reports its metrics under that name. Returns this
    * mutex.
    * {{{
    * val lock = Mutex().map(_.named("ledger"))
    * }}}
    */
  def named(name: String): this.type =
    NamedMetrics.register(this, name)((mutex, named) => mutex.figures("mutex", named))
    this

  override private[weir] def granted(fiber: TaskFiber): Unit = holder = fiber
  override private[weir] def returned(): Unit = holder = null

  private[weir] def awaitedAs: String = awaitedBy("Mutex")

  override private[weir] def holders: Iterator[TaskFiber] =
    val fiber = holder
    if fiber eq null then Iterator.empty else Iterator.single(fiber)

object Mutex:
  /** Returns a new mutex, which is not held. */
  def apply(): Task[Mutex] = Task.delay(unsafe())

  /** As `apply`, but makes the mutex at once, for use outside of tasks. */
  def unsafe(): Mutex = new Mutex()
