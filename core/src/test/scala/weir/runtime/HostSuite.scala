package weir.runtime

import java.util.concurrent.CountDownLatch
import weir.WeirSuite

class HostSuite extends WeirSuite:

  /** This thread as one that runs slices. */
  private final class Here(scheduler: Scheduler) extends Host(scheduler):
    val thread: Thread = Thread.currentThread()
    def pooled: Boolean = true
    def home: Int = 0
    var slotsGivenUp = 0
    override protected def giveUpSlot(): Unit = slotsGivenUp += 1
    def next(): Job | Null = takeHandedOver()

  private final class Opens(latch: CountDownLatch) extends Job:
    def runSlice(host: Host): Unit = latch.countDown()

  /** Holds its carrier until `released`. */
  private final class Spins(begun: CountDownLatch, released: CountDownLatch) extends Job:
    def runSlice(host: Host): Unit =
      begun.countDown()
      while released.getCount > 0 do Thread.onSpinWait()

  test("a job is handed over without the queue, but after a row of them the queue has its turn"):
    val host = Here(Scheduler(1, 16))
    for round <- 1 to 3 do
      for i <- 1 to Tuning.handOversInARow do
        val job = Opens(CountDownLatch(1))
        host.handOver(job)
        assert(host.next() eq job, s"round $round, hand-over $i")
      val queued = CountDownLatch(1)
      host.handOver(Opens(queued))
      assert(host.next() eq null, s"round $round: one more than in a row")
      queued.await() // a worker has run it

  test("a second job that is handed over before the first has run is queued"):
    val host = Here(Scheduler(1, 16))
    val first = Opens(CountDownLatch(1))
    val queued = CountDownLatch(1)
    host.handOver(first)
    host.handOver(Opens(queued))
    queued.await()
    assert(host.next() eq first)

  test("a job that was handed over is queued, once, for a slice that does not return after all"):
    val host = Here(Scheduler(1, 16))
    val queued = CountDownLatch(1)
    host.handOver(Opens(queued))
    host.queueHandedOver()
    await(queued) // a worker has run it
    assert(host.next() eq null)
    host.queueHandedOver()
    assert(!host.scheduler.hasWork)

  test("a long slice gives up its slot where work is queued, and only there"):
    val scheduler = Scheduler(1, 16)
    val begun, released, ran = CountDownLatch(1)
    val idle = Here(scheduler)
    idle.yieldIfDue(inSlice = true)
    assertEquals(idle.slotsGivenUp, 0)
    scheduler.submit(Spins(begun, released), 0)
    begun.await()
    scheduler.submit(Opens(ran), 0) // stays queued: the one slot is held by a worker that runs
    val between, inSlice = Here(scheduler)
    between.yieldIfDue(inSlice = false)
    inSlice.yieldIfDue(inSlice = true)
    released.countDown()
    ran.await()
    assertEquals((between.slotsGivenUp, inSlice.slotsGivenUp), (0, 1))
