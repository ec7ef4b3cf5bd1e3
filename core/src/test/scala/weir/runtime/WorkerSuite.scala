package weir.runtime

import java.lang.ref.WeakReference
import java.util.concurrent.{CompletableFuture, ConcurrentLinkedQueue, CountDownLatch, TimeUnit}
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.locks.LockSupport
import scala.jdk.CollectionConverters.*
import weir.{CollectedTests, Task, TaskLocal, WeirRuntime}

/** The standby with a job that is not needed yet, and with a job for which there is no slot. */
class WorkerSuite extends CollectedTests:

  /** Answers `Later` as often as `later` says, and then `last`. */
  private final class Asked(later: Int, last: Int) extends Job:
    val times = AtomicInteger()
    val ran = CountDownLatch(1)
    override def demand: Int = if times.incrementAndGet() <= later then Job.Later else last
    def runSlice(executionThread: ExecutionThread): Unit = ran.countDown()

  /** Holds its carrier until `released`. */
  private final class Holds(begun: CountDownLatch, released: CountDownLatch) extends Job:
    def runSlice(executionThread: ExecutionThread): Unit =
      begun.countDown()
      while released.getCount > 0 do Thread.onSpinWait()

  private def needed() = Asked(0, Job.Now)

  test("a job that is not needed yet is asked again until it is, and then run"):
    val job = Asked(5, Job.Now)
    Scheduler(1, 16).submit(job)
    await(job.ran)
    assertEquals(job.times.get, 6)

  test("a job that has turned out to be needless is dropped, and the next one is run"):
    val scheduler = Scheduler(1, 16)
    val job = Asked(5, Job.Never)
    scheduler.submit(job)
    eventually("it has been asked, and no worker is active")(
      job.times.get == 6 && scheduler.isQuiet
    )
    val next = needed()
    scheduler.submit(next)
    await(next.ran)
    assertEquals((job.times.get, job.ran.getCount), (6, 1L))

  test("a job that is never needed by itself is run as soon as something else is queued"):
    val scheduler = Scheduler(1, 16)
    val job = Asked(Int.MaxValue, Job.Now)
    scheduler.submit(job)
    eventually("it is asked again and again")(job.times.get > 100)
    assertEquals(job.ran.getCount, 1L)
    val other = needed()
    scheduler.submit(other)
    await(job.ran)
    await(other.ran)

  /** Blocks its worker until `released`. */
  private final class Blocks(released: CountDownLatch) extends Job:
    @volatile private var thread: Thread | Null = null
    def isBlocked: Boolean = (thread ne null) && thread.getState == Thread.State.WAITING
    def runSlice(executionThread: ExecutionThread): Unit =
      thread = executionThread.thread
      released.await()

  test(
    "a job that is spawned runs beside a blocked one, and is dropped where there is no slot for it"
  ):
    assume(
      Scheduler.carriersOfThisJvm >= 2,
      "With one carrier nothing is spawned beside what spins."
    )
    val looks = AtomicInteger()
    val scheduler = new Scheduler(1, 16):
      override def takeSlot(worker: Worker): Int =
        val slot = super.takeSlot(worker)
        looks.incrementAndGet(): Unit
        slot
    val spinning, released, stop = CountDownLatch(1)
    val blocks = Blocks(released)
    scheduler.submit(blocks)
    eventually("it blocks")(blocks.isBlocked)
    val beside = needed()
    scheduler.spawn(beside, slot = 0)
    await(beside.ran)
    scheduler.submit(Holds(spinning, stop))
    await(spinning)
    val dropped, later = needed()
    val before = looks.get
    scheduler.spawn(dropped, slot = 0)
    eventually("it has looked for a slot")(looks.get > before)
    stop.countDown()
    scheduler.submit(later)
    await(later.ran)
    released.countDown()
    eventually("no worker is active")(scheduler.isQuiet)
    assertEquals(dropped.ran.getCount, 1L)

  /** A scheduler of one carrier, and its one worker, which is idle. */
  private def idleWorker(): (Scheduler, Thread) =
    val scheduler = Scheduler(1, 16)
    val thread = CompletableFuture[Thread]()
    scheduler.submit(executionThread => thread.complete(executionThread.thread): Unit)
    val idle = thread.get(5, TimeUnit.SECONDS)
    settlesIdle(scheduler, idle)
    (scheduler, idle)

  private def settlesIdle(scheduler: Scheduler, thread: Thread): Unit =
    eventually(s"it is idle, not $thread"):
      scheduler.isQuiet && thread.getState == Thread.State.WAITING
    assertEquals(scheduler.idleWorkers, 1)

  test("an idle worker is woken for one job after the other"):
    val (scheduler, idle) = idleWorker()
    for _ <- 1 to 20 do
      val thread = CompletableFuture[Thread]()
      scheduler.submit(executionThread => thread.complete(executionThread.thread): Unit)
      assertEquals(thread.get(5, TimeUnit.SECONDS), idle)
      settlesIdle(scheduler, idle)

  test("an idle worker whose thread others unpark or interrupt goes on waiting, in the list once"):
    val (scheduler, idle) = idleWorker()
    for
      wakes <- List[() => Unit](() => LockSupport.unpark(idle), () => idle.interrupt());
      _ <- 1 to 20
    do
      wakes()
      settlesIdle(scheduler, idle)
    val job = needed()
    scheduler.submit(job)
    await(job.ran)

  test("code that sets the handler of its thread hides the worker from no other job"):
    val scheduler = Scheduler(1, 16)
    val found = CompletableFuture[(ExecutionThread | Null, ExecutionThread | Null)]()
    def hides() = Thread.currentThread().setUncaughtExceptionHandler((_, _) => ())
    val second = new Job:
      def runSlice(executionThread: ExecutionThread): Unit =
        found.complete((executionThread, ExecutionThread.here)): Unit
    val first = new Job:
      def runSlice(executionThread: ExecutionThread): Unit =
        hides()
        executionThread.handOver(second)
    scheduler.submit(first)
    val (executionThread, here) = found.get(10, TimeUnit.SECONDS)
    assert(here eq executionThread, s"found $here")

    val local = TaskLocal.unsafe("none")
    val nested = Task:
      Task(hides()).runSync()
      local.current
    val seen = local.locally("own")(nested).start.flatMap(_.joinOrFail).runSync()
    assertEquals(seen, "own")

  test("a worker in the middle of a long slice frees its slot for what is queued"):
    val freed = ConcurrentLinkedQueue[Worker]()
    val scheduler = new Scheduler(1, 16):
      override def freeSlot(worker: Worker, slot: Int): Boolean =
        freed.add(worker): Unit
        super.freeSlot(worker, slot)
    val queued = needed()
    val gaveUp = CompletableFuture[Boolean]()
    val long = new Job:
      def runSlice(executionThread: ExecutionThread): Unit =
        scheduler.submit(queued) // it waits: the one slot is held by this thread, which runs
        Pause.nanos(2 * Tuning.yieldAfterNanos)
        executionThread.yieldIfDue(inSlice = true)
        gaveUp.complete(freed.contains(executionThread)): Unit
    scheduler.submit(long)
    assert(gaveUp.get(5, TimeUnit.SECONDS))
    await(queued.ran)

  test("a worker whose slot was taken searches only if work is queued"):
    val standbys = AtomicInteger()
    val scheduler = new Scheduler(1, 16):
      override def tryStandby(): Boolean =
        standbys.incrementAndGet(): Unit
        super.tryStandby()
    val released = CountDownLatch(1)
    val blocks = Blocks(released)
    scheduler.submit(blocks)
    eventually("it blocks")(blocks.isBlocked)
    val other = needed()
    scheduler.submit(other) // run by a worker that takes the slot of the blocked one
    await(other.ran)
    eventually("that worker is idle")(scheduler.isQuiet && scheduler.idleWorkers == 1)
    val before = standbys.get
    released.countDown()
    eventually("the first one is idle too")(scheduler.idleWorkers == 2)
    assertEquals(standbys.get, before)

  // Race 7.
  test("a worker polls for fairness though it runs no more than one job at a time"):
    val turns = ConcurrentLinkedQueue[Int]()
    val scheduler = new Scheduler(1, 16):
      override def pollForFairness(preferredShard: Int, turn: Int): Job | Null =
        turns.add(turn): Unit
        super.pollForFairness(preferredShard, turn)
    for _ <- 1 to 2 * Tuning.fairnessEvery do
      val job = needed()
      scheduler.submit(job)
      await(job.ran)
      eventually("its worker is idle")(scheduler.isQuiet && scheduler.idleWorkers == 1)
    assertEquals(turns.asScala.toList.distinct, List(1, 2))

  test("a call of runSync that a job has left on its thread hides the worker from no other job"):
    val scheduler = Scheduler(1, 16)
    val found = CompletableFuture[(ExecutionThread | Null, ExecutionThread | Null)]()
    val second = new Job:
      def runSlice(executionThread: ExecutionThread): Unit =
        found.complete((executionThread, ExecutionThread.here)): Unit
    val first = new Job:
      def runSlice(executionThread: ExecutionThread): Unit =
        ExecutionThread.workerHere.nn.caller =
          CallingThread(scheduler, executionThread) // as after an overflow of the stack
        executionThread.handOver(second)
    scheduler.submit(first)
    val (executionThread, here) = found.get(10, TimeUnit.SECONDS)
    assert(here eq executionThread, s"found $here")

  test("an idle worker, and the queue, keep no job that was run"):
    val scheduler = Scheduler(1, 16)
    final class Running(ran: CountDownLatch) extends Job:
      def runSlice(executionThread: ExecutionThread): Unit =
        executionThread.running = this // as a fiber does
        ran.countDown()
    def ran() =
      val latch = CountDownLatch(1)
      val job = Running(latch)
      scheduler.submit(job)
      await(latch)
      WeakReference(job)
    val jobs = List.fill(3)(ran())
    eventually("its worker is idle")(scheduler.isQuiet && scheduler.idleWorkers > 0)
    assertCollected("the jobs")(jobs*)

  test("an idle worker keeps no job that was dropped"):
    assume(
      Scheduler.carriersOfThisJvm >= 2,
      "With one carrier nothing is spawned beside what spins."
    )
    val scheduler = Scheduler(1, 16)
    val begun, released = CountDownLatch(1)
    scheduler.submit(Holds(begun, released))
    await(begun)
    def dropped() =
      val job = needed()
      scheduler.spawn(job, slot = 0)
      eventually("its worker is idle")(scheduler.idleWorkers > 0)
      assertEquals(job.ran.getCount, 1L)
      WeakReference(job)
    assertCollected("the job")(dropped())
    released.countDown()

  test("children that block bring a worker each, and ready ones behind them none"):
    val started = AtomicInteger()
    val scheduler = new Scheduler(2, 64):
      override protected def newWorker(): Worker =
        started.incrementAndGet(): Unit
        super.newWorker()
    given WeirRuntime = WeirRuntime(scheduler, SystemTimers(), null)
    val blocking = 20
    val gate = CountDownLatch(blocking)
    val sum = Task
      .parTraverse(1 to 10_000): i =>
        Task:
          if i <= blocking then
            gate.countDown()
            gate.await()
          i
      .map(_.map(_.toLong).sum)
      .runSync()
    assertEquals(sum, 50_005_000L)
    assert(started.get <= blocking * 3, s"${started.get} workers")

  test("a standby for which there is no slot looks for one once in 200 µs, and burns no carrier"):
    assume(Scheduler.carriersOfThisJvm >= 2, "With one carrier the standby runs only in between.")
    val looks = AtomicInteger()
    val workers = ConcurrentLinkedQueue[Worker]()
    val scheduler = new Scheduler(1, 16):
      override def takeSlot(worker: Worker): Int =
        looks.incrementAndGet(): Unit
        super.takeSlot(worker)
      override protected def newWorker(): Worker =
        val worker = super.newWorker()
        workers.add(worker): Unit
        worker
    val begun, released = CountDownLatch(1)
    val queued = needed()
    scheduler.submit(Holds(begun, released))
    begun.await()
    scheduler.submit(queued)
    val many = 1000
    workers.forEach(_.thread.interrupt()) // its flag would let no park wait
    val (_, took) = timed(eventually(s"looks: ${looks.get}")(looks.get >= many))
    released.countDown()
    await(queued.ran)
    // Rests that follow later than 500 µs after the one before are short, so four looks take that
    // long at least.
    val least = many * Tuning.yieldAfterNanos / 2 / Tuning.shortRests
    assert(took.toNanos >= least, s"$many looks took $took, which should be ${least / 1000} µs")
    println(s"measured: $many looks for a slot in ${took.toMillis} ms")
