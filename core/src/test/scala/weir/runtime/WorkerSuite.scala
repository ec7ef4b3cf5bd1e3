package weir.runtime

import java.util.concurrent.{CompletableFuture, ConcurrentLinkedQueue, CountDownLatch, TimeUnit}
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.locks.LockSupport
import weir.{Runtime, Task, TaskLocal, WeirSuite}

/** What the standby does with a job that is not needed yet, and where there is no slot for it. */
class WorkerSuite extends WeirSuite:

  /** Says `Later` so many times, and then `last`. */
  private final class Asked(later: Int, last: Int) extends Job:
    val times = AtomicInteger()
    val ran = CountDownLatch(1)
    override def need: Int = if times.incrementAndGet() <= later then Job.Later else last
    def runSlice(host: Host): Unit = ran.countDown()

  /** Holds its carrier until `released`. */
  private final class Holds(begun: CountDownLatch, released: CountDownLatch) extends Job:
    def runSlice(host: Host): Unit =
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
    eventually("it has been asked, and nobody works any more")(
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
    def runSlice(host: Host): Unit =
      thread = host.thread
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
      override def claimSlot(worker: Worker): Int =
        val claimed = super.claimSlot(worker)
        looks.incrementAndGet(): Unit
        claimed
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
    eventually("nobody works any more")(scheduler.isQuiet)
    assertEquals(dropped.ran.getCount, 1L)

  /** A scheduler of one carrier, and its one worker, which is idle. */
  private def idleWorker(): (Scheduler, Thread) =
    val scheduler = Scheduler(1, 16)
    val thread = CompletableFuture[Thread]()
    scheduler.submit(host => thread.complete(host.thread): Unit)
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
      scheduler.submit(host => thread.complete(host.thread): Unit)
      assertEquals(thread.get(5, TimeUnit.SECONDS), idle)
      settlesIdle(scheduler, idle)

  test("an idle worker whose thread others unpark or interrupt goes on waiting, in its one place"):
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
    val found = CompletableFuture[(Host | Null, Host | Null)]()
    def hides() = Thread.currentThread().setUncaughtExceptionHandler((_, _) => ())
    val second = new Job:
      def runSlice(host: Host): Unit = found.complete((host, Host.here)): Unit
    val first = new Job:
      def runSlice(host: Host): Unit =
        hides()
        host.handOver(second)
    scheduler.submit(first)
    val (host, here) = found.get(10, TimeUnit.SECONDS)
    assert(here eq host, s"found $here")

    val local = TaskLocal.unsafe("none")
    val nested = Task:
      Task(hides()).runSync()
      local.current
    val seen = local.locally("own")(nested).start.flatMap(_.joinOrFail).runSync()
    assertEquals(seen, "own")

  test("children that block bring a worker each, and ready ones behind them none"):
    val started = AtomicInteger()
    val scheduler = new Scheduler(2, 64):
      override protected def newWorker(): Worker =
        started.incrementAndGet(): Unit
        super.newWorker()
    given Runtime = Runtime(scheduler, SystemTimers(), null)
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
      override def claimSlot(worker: Worker): Int =
        looks.incrementAndGet(): Unit
        super.claimSlot(worker)
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
    // Rests that follow later than 500 µs after the one before are short, so four looks take that long at least.
    val least = many * Tuning.yieldAfterNanos / 2 / Tuning.shortRests
    assert(took.toNanos >= least, s"$many looks took $took, which should be ${least / 1000} µs")
    println(s"measured: $many looks for a slot in ${took.toMillis} ms")
