package weir.runtime

import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.AtomicInteger
import weir.WeirSuite

/** Who wakes a worker for a job, in steps that the test takes by hand. */
class SchedulerSuite extends WeirSuite:

  private final class Opens(latch: CountDownLatch) extends Job:
    def runSlice(host: Host): Unit = latch.countDown()

  /** Nobody becomes the standby before `wakes` is set. */
  private final class Asleep(carriers: Int) extends Scheduler(carriers, 16):
    val raised = AtomicInteger()
    @volatile var wakes = false
    override def raiseStandby(): Unit =
      raised.incrementAndGet(): Unit
      if wakes then super.raiseStandby()

  // Race 11: the standby has looked while the jobs were in hand, and has gone idle.
  test("jobs that are moved to another shard while nobody is the standby are run"):
    val scheduler = Asleep(2)
    val ran = CountDownLatch(8)
    for _ <- 1 to 9 do scheduler.submit(Opens(ran), 1)
    scheduler.wakes = true
    assert(scheduler.poll(0) != null) // stays in hand, as with a worker that it blocks
    await(ran)

  test("a job that is taken from another shard alone wakes nobody"):
    val scheduler = Asleep(2)
    for _ <- 1 to 2 do scheduler.submit(Opens(CountDownLatch(1)), 1)
    assertEquals(scheduler.raised.get, 2)
    for _ <- 1 to 2 do assert(scheduler.poll(0) != null)
    assert(scheduler.poll(0) eq null)
    assertEquals(scheduler.raised.get, 2)
