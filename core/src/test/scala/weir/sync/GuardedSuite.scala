package weir
package sync

import java.lang.ref.WeakReference
import java.util.concurrent.ConcurrentLinkedQueue
import scala.jdk.CollectionConverters.*
import weir.fiber.TaskFiber

/** The lock that primitives with a line of waiters share, and their operations under it. */
class GuardedSuite extends CollectedTests, StreamTests:

  private def idle(): TaskFiber = TaskFiber(WeirRuntime.default, Task.unit)

  /** Counts under the lock. */
  private final class Counter extends Guarded:
    private var count = 0
    def increment(): Unit =
      lock()
      count += 1
      unlockAndWake(fiber)
    def now: Int = count
    private val fiber = idle()
    private[weir] def leave(entry: GuardedEntry): Unit = ()
    def awaitedAs: String = "a test"

  test("of two threads one at a time has the lock"):
    val counter = Counter()
    val each = 1_000_000
    val threads = List.fill(2)(Thread.ofPlatform().start { () =>
      for _ <- 1 to each do counter.increment()
    })
    threads.foreach(_.join())
    assertEquals(counter.now, 2 * each)

  /** A value that two threads set at once: both have seen that it is not set yet when the first of
    * them gets the lock.
    */
  private final class SetTwice extends OneShot[Int]:
    def awaitedAs: String = "a test"
    private val results = ConcurrentLinkedQueue[(Int, Boolean)]()

    /** Returns each value, with true if that is the one that was set. */
    def run(): List[(Int, Boolean)] =
      val fiber = idle()
      lock()
      val threads = List(1, 2).map { value =>
        Thread.ofPlatform().start(() => results.add((value, set(fiber, value))): Unit)
      }
      for thread <- threads do
        eventually("it waits for the lock"):
          thread.getStackTrace.exists(_.getMethodName.contains("lockHeld"))
      unlockAndWake(fiber)
      threads.foreach(_.join())
      results.asScala.toList

  test("of two fibers that set a value at once one does, and the value is its own"):
    for _ <- 1 to 20 do
      val value = SetTwice()
      val results = value.run()
      assertEquals(results.count(_._2), 1, results.toString)
      assertEquals(results.find(_._2).map(_._1), Some(value.present))

  test("a fiber that goes on with a permit keeps none of those that were woken after it"):
    given WeirRuntime = smallRuntime()
    val semaphore = Semaphore.unsafe(0)
    val first = parked(semaphore.withPermit(Task.never))
    def others() = List.fill(10)(WeakReference(parked(semaphore.withPermit(Task.unit))))
    val woken = others()
    semaphore.releaseN(11).runSync()
    standstill()
    assertCollected("fibers that have ended")(woken*)
    first.cancel.runSync()
