package weir

import java.util.concurrent.atomic.AtomicLong
import weir.fiber.{Suspend, TaskFiber}
import weir.sync.OneShot

/** A gate that opens once it has been released a number of times, and then stays open. */
final class CountDownLatch private (releases: Long) extends OneShot[Unit]:

  // shared
  private val missing = AtomicLong(releases)

  /** Nothing, once the latch is open. **Waits** until it has been released as often as it must be.
    * **Cancelled** while it waits: no effect on others.
    */
  val await: Task[Unit] = awaitSet

  /** Counts one release; the last one opens the latch. No effect on a latch that is open. */
  val release: Task[Unit] = new Suspend[Unit]:
    def begin(fiber: TaskFiber): Any =
      if missing.get > 0 && missing.decrementAndGet() == 0 then set(fiber, ()): Unit

  /** How many releases are missing. */
  def count: Task[Long] = Task.delay(math.max(0L, missing.get))

  private[weir] def awaitedAs: String =
    s"CountDownLatch($releases), with ${math.max(0L, missing.get)} missing"

object CountDownLatch:
  /** A new latch that opens after `releases` releases. **Fails** with an `IllegalArgumentException`
    * if `releases` is below 1.
    */
  def apply(releases: Long): Task[CountDownLatch] = Task.delay(unsafe(releases))

  /** As `apply`, made at once, for use outside of tasks. */
  def unsafe(releases: Long): CountDownLatch =
    require(
      releases >= 1,
      s"CountDownLatch: the number of releases was $releases. It must be at least 1."
    )
    new CountDownLatch(releases)
