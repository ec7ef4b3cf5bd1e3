package weir.runtime

import java.util.concurrent.{CompletableFuture, CountDownLatch, TimeUnit}
import java.util.concurrent.atomic.AtomicInteger
import scala.concurrent.duration.*
import weir.{Task, Tier, WeirRuntime, WeirSuite}

/** Workers are woken and slots are taken, in steps that the test takes by hand. */
class SchedulerSuite extends WeirSuite:

  /** The time for which two threads disturb each other, in tests that show a race only by many
    * tries.
    */
  private val stressNanos = Tier(300_000_000L, 3_000_000_000L)

  private final class Opens(latch: CountDownLatch) extends Job:
    def runSlice(executionThread: ExecutionThread): Unit = latch.countDown()

  /** Nobody becomes the standby before `wakes` is set. */
  private final class Asleep(carriers: Int) extends Scheduler(carriers, 16):
    val raised = AtomicInteger()
    @volatile var wakes = false
    override def raiseStandby(): Unit =
      raised.incrementAndGet(): Unit
      if wakes then super.raiseStandby()

  // Race 11: the standby has looked while the jobs were in no queue, and has gone idle.
  test("jobs that are moved to another shard while there is no standby are run"):
    val scheduler = Asleep(2)
    val ran = CountDownLatch(8)
    for _ <- 1 to 9 do scheduler.submit(Opens(ran), 1)
    scheduler.wakes = true
    assert(scheduler.poll(0) != null) // is not run, as by a worker that it blocks
    await(ran)

  test("a job that is taken from another shard alone wakes no worker"):
    val scheduler = Asleep(2)
    for _ <- 1 to 2 do scheduler.submit(Opens(CountDownLatch(1)), 1)
    assertEquals(scheduler.raised.get, 2)
    for _ <- 1 to 2 do assert(scheduler.poll(0) != null)
    assert(scheduler.poll(0) eq null)
    assertEquals(scheduler.raised.get, 2)

  /** Submits `late` as the role of the standby is given up for the time `at`, before anybody can
    * see that.
    */
  private final class SubmitsLate(at: Int, late: Job) extends Scheduler(1, 16):
    private val times = AtomicInteger()
    override def leaveStandby(): Unit =
      if times.incrementAndGet() == at then submit(late)
      super.leaveStandby()

  // Race 1.
  test("a job that is queued as the standby begins to run another one is run beside it"):
    val ran, released = CountDownLatch(1)
    val scheduler = SubmitsLate(1, Opens(ran))
    scheduler.submit(_ => released.await())
    try await(ran)
    finally released.countDown()

  // Race 1.
  test("a job that is queued as the standby goes idle is run"):
    val first, ran = CountDownLatch(1)
    val scheduler = SubmitsLate(2, Opens(ran))
    scheduler.submit(Opens(first))
    await(first)
    await(ran)

  test("a worker that goes idle can be woken before it gives the role of the standby up"):
    val times = AtomicInteger()
    val idle = CompletableFuture[Int]()
    val scheduler = new Scheduler(1, 16):
      override def leaveStandby(): Unit =
        if times.incrementAndGet() == 2 then idle.complete(idleWorkers): Unit
        super.leaveStandby()
    scheduler.submit(Opens(CountDownLatch(1)))
    assertEquals(idle.get(5, TimeUnit.SECONDS), 1)

  test("stress: a job that is moved to a shard that others have filled meanwhile is not lost"):
    val scheduler = new Scheduler(2, 4):
      override def raiseStandby(): Unit = ()
    val job = Opens(CountDownLatch(1))
    val jobs = AtomicInteger()
    def take(preferredShard: Int): Unit =
      if scheduler.poll(preferredShard) != null then jobs.decrementAndGet(): Unit
    def both(body: Int => Unit): Unit =
      val threads =
        (0 to 1).map(preferredShard => Thread.ofPlatform().start(() => body(preferredShard)))
      threads.foreach(_.join())
    def submit(preferredShard: Int): Unit =
      for _ <- 1 to 4 do
        jobs.incrementAndGet(): Unit
        scheduler.submit(job, preferredShard)
    val until = System.nanoTime() + stressNanos
    both { preferredShard =>
      while System.nanoTime() < until do
        submit(preferredShard)
        // This one finds the shard 0 empty, and moves jobs there, while the other one fills it.
        if preferredShard == 1 then while scheduler.hasWork do take(0)
    }
    while scheduler.hasWork do take(0)
    assertEquals(jobs.get, 0)

  test("where no worker can be started, the next job that is queued starts one for both"):
    val ran = CountDownLatch(2)
    val asked = AtomicInteger()
    val scheduler = new Scheduler(1, 16):
      override protected def newWorker(): Worker =
        if asked.incrementAndGet() == 1 then throw OutOfMemoryError("a test's own")
        super.newWorker()
    submitQuietly(scheduler, Opens(ran))
    scheduler.submit(Opens(ran))
    await(ran)

  /** Submits `job`, and drops the error that the runtime prints meanwhile. */
  private def submitQuietly(scheduler: Scheduler, job: Job): Unit =
    val err = System.err
    System.setErr(java.io.PrintStream(java.io.OutputStream.nullOutputStream()))
    try scheduler.submit(job)
    finally System.setErr(err)

  /** The stack of the submitting thread ends as it raises the standby for the first time. */
  private final class EndsOnce extends Scheduler(2, 16):
    private val raised = AtomicInteger()
    override def raiseStandby(): Unit =
      if raised.incrementAndGet() == 1 then throw StackOverflowError("a test's own")
      super.raiseStandby()

  // Race 15.
  test("a job is queued without an error if the stack ends after the push; the next submit wakes"):
    val ran = CountDownLatch(2)
    val scheduler = EndsOnce()
    scheduler.submit(Opens(ran))
    scheduler.submit(Opens(ran))
    await(ran)

  // Race 15.
  test("a job that is taken is not lost if the standby cannot be raised for those that are moved"):
    var ends = false
    val scheduler = new Scheduler(2, 16):
      override def raiseStandby(): Unit = if ends then throw StackOverflowError("a test's own")
    val jobs = List.fill(20 + 16)(Opens(CountDownLatch(1)))
    for job <- jobs do scheduler.submit(job, 1) // 16 are in the shard, 20 in the overflow queue
    ends = true
    val polled = List.fill(jobs.size)(scheduler.poll(0))
    assertEquals(polled.toSet, jobs.toSet)

  // Race 15.
  test("the role of the standby is given up if the stack ends as it is taken"):
    val ran = CountDownLatch(2)
    val tries = AtomicInteger()
    val scheduler = new Scheduler(1, 16):
      override def tryStandby(): Boolean =
        val won = super.tryStandby()
        if tries.incrementAndGet() == 1 then throw StackOverflowError("a test's own")
        won
    submitQuietly(scheduler, Opens(ran))
    scheduler.submit(Opens(ran))
    await(ran)

  // Race 15.
  test("a fiber that leaves the caller's thread as the stack ends has one owner, and is run"):
    given WeirRuntime = WeirRuntime(EndsOnce(), SystemTimers(), null)
    val ran = AtomicInteger()
    val task = Task(ran.incrementAndGet()).evalOn(scala.concurrent.ExecutionContext.global)
    assertEquals(within(10.seconds)(task.runSync()), 1)
    assertEquals(ran.get, 1)

  private val threads = Worker.threads(Thread.ofVirtual())

  /** A worker that never runs, and looks as if it did, or not. */
  private def worker(scheduler: Scheduler, runs: Boolean): Worker =
    new Worker(scheduler, threads):
      override def isRunnable: Boolean = runs

  // Race 2.
  test("a slot is taken from a holder that does not run, which then cannot free it"):
    val scheduler = Scheduler(1, 16)
    val first, second = worker(scheduler, runs = false)
    assertEquals(scheduler.takeSlot(first), 0)
    assertEquals(scheduler.takeSlot(second), 0)
    assert(!scheduler.holdsSlot(first, 0) && scheduler.holdsSlot(second, 0))
    assert(!scheduler.freeSlot(first, 0))
    assert(scheduler.holdsSlot(second, 0))
    assert(scheduler.freeSlot(second, 0))
    assertEquals(scheduler.activeWorkers, 0)

  test("a free slot is taken before that of a holder that does not run, and none of one that runs"):
    val scheduler = Scheduler(2, 16)
    val blocked = worker(scheduler, runs = false)
    val first, second, third = worker(scheduler, runs = true)
    assertEquals(scheduler.takeSlot(blocked), 0)
    assertEquals(scheduler.takeSlot(first), 1)
    assertEquals(scheduler.takeSlot(second), 0)
    assertEquals(scheduler.takeSlot(third), -1)
    assertEquals(scheduler.takeSlot(third, 1), -1)

  test("a slot whose holder is replaced during the look at it is not taken from the new one"):
    val scheduler = Scheduler(1, 16)
    val first, second = worker(scheduler, runs = true)
    var looks = 0
    def replace() = assertEquals(scheduler.takeSlot(first), 0)
    val blocked = new Worker(scheduler, threads):
      override def isRunnable: Boolean =
        looks += 1
        if looks == 1 then replace()
        false
    assertEquals(scheduler.takeSlot(blocked), 0)
    assertEquals(scheduler.takeSlot(second), -1)
    assert(scheduler.holdsSlot(first, 0))

  /** Lets two threads take a thing that only one of them can have at a time, again and again. */
  private def oneAtATime(take: Int => Boolean)(giveBack: Int => Boolean): Unit =
    val inside, wrong = AtomicInteger()
    val until = System.nanoTime() + stressNanos
    val both = (0 to 1).map { i =>
      Thread.ofPlatform().start { () =>
        while System.nanoTime() < until && wrong.get == 0 do
          if take(i) then
            if inside.incrementAndGet() != 1 then wrong.incrementAndGet(): Unit
            inside.decrementAndGet(): Unit
            if !giveBack(i) then wrong.incrementAndGet(): Unit
      }
    }
    both.foreach(_.join())
    assertEquals(wrong.get, 0)

  test("of two that come for a free slot at once, one gets it"):
    val scheduler = Scheduler(1, 16)
    val workers = List.fill(2)(worker(scheduler, runs = true))
    oneAtATime(i => scheduler.takeSlot(workers(i)) == 0)(i => scheduler.freeSlot(workers(i), 0))

  test("of two that come for the role of the standby at once, one gets it"):
    val scheduler = Scheduler(1, 16)
    oneAtATime(_ => scheduler.tryStandby()) { _ =>
      scheduler.leaveStandby()
      true
    }

  private final class Takes extends Scheduler(1, 16):
    def take(): Worker | Null = takeIdle()

  test("of two that come for an idle worker at once, one gets it"):
    val scheduler = Takes()
    val idle = worker(scheduler, runs = false)
    assert(scheduler.putIdle(idle))
    oneAtATime(_ => scheduler.take() != null)(_ => scheduler.putIdle(idle))
    assertEquals(scheduler.idleWorkers, 1)

  test("of two that want to be idle in the last free cell at once, one gets it"):
    val scheduler = Takes()
    for _ <- 1 until Tuning.idleWorkersPerCarrier do
      assert(scheduler.putIdle(worker(scheduler, runs = false)))
    val workers = List.fill(2)(worker(scheduler, runs = false))
    oneAtATime(i => scheduler.putIdle(workers(i)))(_ => scheduler.take() != null)
    assertEquals(scheduler.idleWorkers, Tuning.idleWorkersPerCarrier - 1)

  // Race 7.
  test(
    "a fairness poll finds the overflow queue, and each shard in turn, past a shard that is full"
  ):
    val scheduler = Asleep(2)
    val jobs = List.fill(16 * 2 + 1)(Opens(CountDownLatch(1)))
    for job <- jobs.take(16) do scheduler.submit(job, 0)
    for job <- jobs.slice(16, 32) do scheduler.submit(job, 1)
    scheduler.submit(jobs.last, 1) // into the overflow queue
    assert(scheduler.pollForFairness(0, 2) eq jobs.last)
    assert(scheduler.pollForFairness(0, 3) eq jobs(16))
    assert(scheduler.pollForFairness(0, 5) eq jobs(0))

  test(
    "jobs that the shards have no room for are in the overflow queue, after those in the shards"
  ):
    val scheduler = Asleep(1)
    val jobs = List.fill(20)(Opens(CountDownLatch(1)))
    for job <- jobs do scheduler.submit(job, 0)
    assertEquals(List.fill(20)(scheduler.poll(0)), jobs)
    assert(!scheduler.hasWork)
    for job <- jobs do scheduler.submit(job, 0)
    for _ <- 1 to 16 do scheduler.poll(0): Unit
    assert(scheduler.hasWork)
    assertEquals(scheduler.onlyJobAt, -1)
    scheduler.submit(jobs.head, 0)
    assertEquals(scheduler.onlyJobAt, -1)
