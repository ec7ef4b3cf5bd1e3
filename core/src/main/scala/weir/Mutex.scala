package weir

import scala.compiletime.uninitialized
import weir.kernel.RunLoop
import weir.sync.{Permits, WithPermits}

/** Lets one fiber in at a time. Fair: those who wait are let in in the order in which they came.
  *
  * It belongs to a fiber only for a fiber dump, which names the one inside. A fiber that asks for a mutex which it holds waits for
  * itself, for ever; the dump shows that as a cycle.
  */
final class Mutex private () extends Permits(1):

  // under the lock; a dump reads it without
  @volatile private var holder: RunLoop | Null = uninitialized

  /** What `task` returns, run while no other task is inside. '''Waits''' until the ones before have left. '''Cancelled''' while
    * it waits: does not enter.
    */
  def withLock[A](task: Task[A]): Task[A] = WithPermits(this, 1, task)

  /** True if somebody is inside. */
  def isLocked: Task[Boolean] = Task.delay(holder ne null)

  override private[weir] def granted(fiber: RunLoop): Unit = holder = fiber
  override private[weir] def returned(): Unit = holder = null

  def awaitedAs: String = awaitedAs("Mutex")

  override def holders: Iterator[RunLoop] =
    val fiber = holder
    if fiber eq null then Iterator.empty else Iterator.single(fiber)

object Mutex:
  /** A new one, with nobody inside. */
  def apply(): Task[Mutex] = Task.delay(unsafe())

  /** A new one, made at once, for use outside of tasks. */
  def unsafe(): Mutex = new Mutex()
