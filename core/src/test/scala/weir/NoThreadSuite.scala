package weir

import java.util.concurrent.CountDownLatch
import scala.concurrent.duration.*
import weir.runtime.{Scheduler, SystemTimers}

/** Where the system has no thread to give to the timer, those who need it fail, and nobody else. */
class NoThreadSuite extends WeirSuite:

  /** A runtime whose timer gets no thread for the first time. */
  private def poor(): Runtime = Runtime(Scheduler(2, 4), SystemTimers(RefusesFirst()), null)

  private def assertRefused(task: Task[Any])(using Runtime): Unit =
    val refused =
      try
        task.runSync(): Unit
        false
      catch case _: OutOfMemoryError => true
    assert(refused)

  test("a sleep fails, its finalizers run, and the next one sleeps"):
    given Runtime = poor()
    var finalized = false
    assertRefused(Task.sleep(1.milli).guarantee(Task { finalized = true }))
    assert(finalized)
    Task.sleep(1.milli).runSync()

  test("a timeout fails, and so does a retry that would wait"):
    locally:
      given Runtime = poor()
      assertRefused(Task.never.timeout(1.hour))
      assertEquals(Task(1).timeout(1.hour).runSync(), 1)
    locally:
      given Runtime = poor()
      assertRefused(Task.fail(Boom()).retry(Schedule.fixed(1.milli)))

  test("whoever acquires a permit of a limiter fails, and stands in nobody's way"):
    given runtime: Runtime = poor()
    val limiter = RateLimiter.unsafe(1, 20.millis)
    limiter.acquire.runSync()
    assertRefused(limiter.acquire)
    within(10.seconds)(limiter.acquire.runSync())
    within(10.seconds)(limiter.acquire.runSync())

  test("timeoutAbandon cancels what it has started, which nothing would limit"):
    given Runtime = poor()
    val ended = CountDownLatch(1)
    assertRefused(Task.never.guarantee(Task(ended.countDown())).timeoutAbandon(1.hour))
    await(ended)
