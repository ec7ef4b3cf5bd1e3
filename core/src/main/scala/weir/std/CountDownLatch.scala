package weir.std

import java.util.concurrent.atomic.AtomicLong
import weir.Task
import weir.fiber.{Suspend, TaskFiber}
import weir.sync.OneShot

/** A gate that opens after a number of releases, and then stays open. */
final class CountDownLatch private (releases: Long) extends OneShot[Unit]:

  // shared
  private val missing = AtomicLong(releases)

  /** Waits until the latch is open: until `release` has been called as often as is necessary.
    * **Cancelled** while it waits: has no effect on others.
    */
  val await: Task[Unit] = awaitSet

  /** Counts one release. The last one opens the latch. Has no effect on an open latch. */
  val release: Task[Unit] = new Suspend[Unit]:
    def begin(fiber: TaskFiber): Any =
      if missing.get > 0 && missing.decrementAndGet() == 0 then set(fiber, ()): Unit

  /** Returns the number of releases that are missing. */
  def count: Task[Long] = Task.delay(math.max(0L, missing.get))

  private[weir] def awaitedAs: String =
    s"CountDownLatch($releases), with ${math.max(0L, missing.get)} missing"

object CountDownLatch:
  /** Returns a new latch that opens after `releases` releases. **Fails** with an
    * `IllegalArgumentException` if `releases` is below 1.
    */
  def apply(releases: Long): Task[CountDownLatch] = Task.delay(unsafe(releases))

  /** As `apply`, but makes the latch at once, for use outside of tasks. */
  def unsafe(releases: Long): CountDownLatch =
    require(
      releases >= 1,
      s"CountDownLatch: the number of releases was $releases. It must be at least 1."
    )
    new CountDownLatch(releases)
