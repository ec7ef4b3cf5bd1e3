package weir.runtime

import java.util.concurrent.{CompletableFuture, CountDownLatch, TimeUnit}
import java.util.concurrent.locks.LockSupport
import weir.WeirSuite

class ExecutionThreadSuite extends WeirSuite:

  /** This thread as one that runs slices. */
  private final class Here(scheduler: Scheduler) extends ExecutionThread(scheduler):
    val thread: Thread = Thread.currentThread()
    def pooled: Boolean = true
    def preferredShard: Int = 0
    var slotsGivenUp = 0
    var parks = 0
    override protected def giveUpSlot(): Unit = slotsGivenUp += 1
    override private[runtime] def parkFor(nanos: Long): Unit =
      parks += 1
      super.parkFor(nanos)
    def next(): Job | Null = takeHandedOver()

  private final class Opens(latch: CountDownLatch) extends Job:
    def runSlice(executionThread: ExecutionThread): Unit = latch.countDown()

  /** Holds its carrier until `released`. */
  private final class Spinning(begun: CountDownLatch, released: CountDownLatch) extends Job:
    def runSlice(executionThread: ExecutionThread): Unit =
      begun.countDown()
      while released.getCount > 0 do Thread.onSpinWait()

  test("a job is handed over without the queue, but after a row of them the queue has its turn"):
    val executionThread = Here(Scheduler(1, 16))
    for round <- 1 to 3 do
      for i <- 1 to Tuning.handOversInARow do
        val job = Opens(CountDownLatch(1))
        executionThread.handOver(job)
        assert(executionThread.next() eq job, s"round $round, hand-over $i")
      val queued = CountDownLatch(1)
      executionThread.handOver(Opens(queued))
      assert(executionThread.next() eq null, s"round $round: one more than in a row")
      queued.await() // a worker has run it

  test("a second job that is handed over before the first has run is queued"):
    val executionThread = Here(Scheduler(1, 16))
    val first = Opens(CountDownLatch(1))
    val queued = CountDownLatch(1)
    executionThread.handOver(first)
    executionThread.handOver(Opens(queued))
    queued.await()
    assert(executionThread.next() eq first)

  test("a job that was handed over is queued, once, for a slice that does not return after all"):
    val executionThread = Here(Scheduler(1, 16))
    val queued = CountDownLatch(1)
    executionThread.handOver(Opens(queued))
    executionThread.queueHandedOver()
    await(queued) // a worker has run it
    assert(executionThread.next() eq null)
    executionThread.queueHandedOver()
    assert(!executionThread.scheduler.hasWork)

  for (kind, start) <- List[(String, Runnable => Thread)](
      "virtual" -> Thread.startVirtualThread,
      "platform" -> (Thread.ofPlatform().start(_))
    )
  do
    test(
      s"a $kind thread that was interrupted before parks all the same, for as long as it should"
    ):
      val took = CompletableFuture[Long]()
      start { () =>
        val executionThread = Here(Scheduler(1, 16))
        Thread.currentThread().interrupt()
        LockSupport.unpark(Thread.currentThread())
        Thread.interrupted(): Unit
        val begun = System.nanoTime()
        executionThread.parkFor(20_000_000)
        took.complete(System.nanoTime() - begun): Unit
      }: Unit
      val nanos = took.get(5, TimeUnit.SECONDS)
      assert(nanos >= 20_000_000, s"$nanos ns")

  test("a long slice gives up its slot where work is queued, and only there"):
    val scheduler = Scheduler(1, 16)
    val begun, released, ran = CountDownLatch(1)
    val idle = Here(scheduler)
    idle.yieldIfDue(inSlice = true)
    assertEquals(idle.slotsGivenUp, 0)
    scheduler.submit(Spinning(begun, released), 0)
    begun.await()
    scheduler.submit(Opens(ran), 0) // stays queued: the one slot is held by a worker that runs
    val between, inSlice = Here(scheduler)
    between.yieldIfDue(inSlice = false)
    inSlice.yieldIfDue(inSlice = true)
    released.countDown()
    ran.await()
    assertEquals((between.slotsGivenUp, inSlice.slotsGivenUp), (0, 1))
    // The park comes back by the JDK's common queue: the standby, which is there, must be mounted
    // first.
    assertEquals((between.parks, inSlice.parks), (0, 1))

  test("one yield in eight is a park"):
    val idle = Here(Scheduler(1, 16))
    for _ <- 1 to 3 * Tuning.yieldsPerPark do
      Pause.nanos(2 * Tuning.yieldAfterNanos)
      idle.yieldIfDue(inSlice = false)
    assertEquals(idle.parks, 3)
