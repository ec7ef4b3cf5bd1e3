package weir
package sync

import scala.concurrent.duration.*
import weir.fiber.{FiberCore, Suspend, TaskFiber}

/** Code that runs with permits, cancelled between joining the line and waiting in it. */
class WithPermitsSuite extends StreamTests:

  private val own = TaskFiber(WeirRuntime.default, Task.unit)

  private final class Held extends Permits(0):
    private[weir] def awaitedAs: String = awaitedBy("a test")

    /** A fiber that has come for a permit while the lock was held, and was cancelled then. */
    def canceledAtLock(): Fiber[Unit] =
      lock()
      val fiber = WithPermits(this, 1, Task.unit).start.runSync()
      val core = fiber match { case core: FiberCore => core }
      eventually("it waits for the lock"):
        val thread = core.runningOn
        thread != null && thread.getStackTrace.exists(_.getMethodName.contains("lockHeld"))
      core.requestCancel()
      unlockAndWake(own)
      fiber

  test("one that is cancelled before it waits leaves the line, and the next permit is not for it"):
    val permits = Held()
    val fiber = permits.canceledAtLock()
    assertEquals(fiber.join.runSync(), Outcome.Canceled)
    permits.give(own, 1)
    assert(permits.tryTake(own, 1))

  test(
    "stress: one that is cancelled before it waits, and served all the same, gives the permit back"
  ):
    val until = Tier(500.millis, 10.seconds).fromNow
    while until.hasTimeLeft() do
      val permits = Held()
      val fiber = permits.canceledAtLock()
      while !permits.awaitedAs.contains("1 waits") && !ended(fiber) do Thread.onSpinWait()
      permits.give(own, 1) // while it waits in line, or leaves it
      assertEquals(fiber.join.runSync(), Outcome.Canceled)
      assert(permits.tryTake(own, 1), "the permit is lost")

  /** The fiber that gets a permit is cancelled as it gets it, before it can run. */
  private final class Cancels extends Permits(0):
    private[weir] def awaitedAs: String = awaitedBy("a test")
    override private[weir] def granted(fiber: TaskFiber): Unit =
      if fiber ne own then fiber.requestCancel()

  test("code does not begin, masked or not, in a fiber that is cancelled as it gets its permit"):
    @volatile var began = false
    for body <- List[Task[Any]](
        Task { began = true },
        Task.uncancelable(_ => Task { began = true })
      )
    do
      val permits = Cancels()
      val fiber = WithPermits(permits, 1, body).start.runSync()
      eventually("it waits")(permits.awaitedAs.contains("1 waits"))
      val give = new Suspend[Unit]:
        def begin(fiber: TaskFiber): Any = permits.give(fiber, 1)
      give.runSync()
      assertEquals(fiber.join.runSync(), Outcome.Canceled)
      assert(!began)
      assert(permits.tryTake(own, 1), "the permit is lost")
