package weir

import java.util.concurrent.CountDownLatch
import scala.concurrent.duration.*
import weir.fiber.TaskFiber
import weir.runtime.{Alarm, Scheduler, SystemTimers, Timers}
import weir.std.{KeyedQueue, RateLimiter}

/** If the system has no thread for the timer, the fibers that need the timer fail, and no others.
  */
class NoThreadSuite extends WeirSuite:

  /** A runtime whose timer gets no thread for the first time. */
  private def poor(): WeirRuntime = WeirRuntime(Scheduler(2, 4), SystemTimers(RefusesFirst()), null)

  private def assertRefused(task: Task[Any])(using WeirRuntime): Unit =
    val refused =
      try
        task.runSync(): Unit
        false
      catch case _: OutOfMemoryError => true
    assert(refused)

  test("a sleep fails, its finalizers run, and the next one sleeps"):
    given WeirRuntime = poor()
    var finalized = false
    assertRefused(Task.sleep(1.milli).guarantee(Task { finalized = true }))
    assert(finalized)
    Task.sleep(1.milli).runSync()

  test("a timeout fails, and so does a retry that would wait"):
    locally:
      given WeirRuntime = poor()
      assertRefused(Task.never.timeout(1.hour))
      assertEquals(Task(1).timeout(1.hour).runSync(), 1)
    locally:
      given WeirRuntime = poor()
      assertRefused(Task.fail(Boom()).retry(Schedule.fixed(1.milli)))

  test("whoever acquires a permit of a limiter fails, and stands in nobody's way"):
    given runtime: WeirRuntime = poor()
    val limiter = RateLimiter.unsafe(1, 20.millis)
    limiter.acquire.runSync()
    assertRefused(limiter.acquire)
    within(10.seconds)(limiter.acquire.runSync())
    within(10.seconds)(limiter.acquire.runSync())

  /** A clock that can refuse alarms, as if there were no memory or no thread for them. */
  private final class Refusing extends Timers:
    private val clock = SystemTimers()
    @volatile var refuses = false
    def nanoTime: Long = clock.nanoTime
    def realTime: java.time.Instant = clock.realTime
    def add(alarm: Alarm): Unit =
      if refuses then throw OutOfMemoryError("unable to create native thread")
      clock.add(alarm)
    def remove(alarm: Alarm): Boolean = clock.remove(alarm)
    def size: Int = clock.size

  private def awaitWait(fiber: Fiber[Any]): Unit = fiber match
    case fiber: TaskFiber => eventually("the fiber waits")(fiber.suspendedIn ne null)

  test("who waits for a permit fails where another fiber cannot set the alarm for it"):
    val timers = Refusing()
    given WeirRuntime = WeirRuntime(Scheduler(2, 4), timers, null)
    val limiter = RateLimiter.unsafe(1, 1.hour)
    limiter.acquire.runSync()
    val first = limiter.acquire.start.runSync()
    awaitWait(first)
    val second = limiter.acquire.start.runSync()
    awaitWait(second)
    timers.refuses = true
    first.cancel.runSync()
    within(10.seconds)(assertRefused(second.joinOrFail))

  test("who waits for a value fails where another fiber cannot set the alarm for it"):
    val timers = Refusing()
    given WeirRuntime = WeirRuntime(Scheduler(2, 4), timers, null)
    val values = KeyedQueue.unsafe[String, String](10, identity, _ => 1)
    val taker = values.process(1)(value => Task.pure(KeyedQueue.Next.Done(value))).head
    val waits = Task.both(taker, Task.unit).start.runSync()
    eventually("it waits for a value")(summon[WeirRuntime].dump().contains("KeyedQueue, with 0"))
    timers.refuses = true
    (values.hold("a", 1.hour) >> values.offer("a")).runSync()
    within(10.seconds)(assertRefused(waits.joinOrFail))
    timers.refuses = false
    within(10.seconds)(assertEquals((values.offer("b") >> taker).runSync(), Some("b")))

  test("timeoutAbandon cancels what it has started, which nothing would limit"):
    given WeirRuntime = poor()
    val ended = CountDownLatch(1)
    assertRefused(Task.never.guarantee(Task(ended.countDown())).timeoutAbandon(1.hour))
    await(ended)
