package weir

import java.util.SplittableRandom
import java.util.concurrent.{CountDownLatch, CyclicBarrier as JdkBarrier}
import java.util.concurrent.atomic.AtomicInteger
import scala.concurrent.duration.*
import weir.fiber.{FiberCore, Suspend, TaskFiber, Waiter}

/** A value that is handed over at the moment at which its receiver is cancelled goes to the next in
  * line.
  *
  * On one carrier: a fiber whose cancel was requested cannot run, and so cannot leave the line,
  * before the requesting fiber has taken its next step.
  */
class CancelledHandOverSuite extends StreamTests:

  /** Asks `fiber` to cancel, and then does `next`, before `fiber` can run. */
  private def whileCanceled(fiber: Fiber[Any], next: Task[Any])(using WeirRuntime): Unit =
    Task(fiber match { case core: FiberCore => core.requestCancel() })
      .flatMap(_ => next)
      .start
      .flatMap(_.joinOrFail)
      .runSync(): Unit
    assertEquals(fiber.join.runSync(), Outcome.Canceled)

  private def oneCarrier(): WeirRuntime = WeirRuntime.make(1, 4)

  for (name, make) <- List(
      "bounded" -> Queue.bounded[Int](1),
      "unbounded" -> Queue.unbounded[Int],
      "synchronous" -> Queue.synchronous[Int]
    )
  do
    test(s"a value goes to the next taker, $name queue"):
      given WeirRuntime = oneCarrier()
      val queue = make.runSync()
      val first, second = parked(queue.take)
      whileCanceled(first, queue.offer(1))
      assertEquals(second.joinOrFail.runSync(), 1)

  test("a place goes to the next offer, and the value of the first is not in the queue"):
    given WeirRuntime = oneCarrier()
    val queue = Queue.unsafe[Int](1)
    queue.offer(0).runSync()
    val first = parked(queue.offer(1))
    val second = parked(queue.offer(2))
    whileCanceled(first, queue.take)
    second.joinOrFail.runSync()
    assertEquals(queue.tryTakeN(10).runSync(), List(2))

  test("a synchronous take takes the value of the next offer"):
    given WeirRuntime = oneCarrier()
    val queue = Queue.synchronous[Int].runSync()
    val first = parked(queue.offer(1))
    val second = parked(queue.offer(2))
    whileCanceled(first, queue.take.map(assertEquals(_, 2)))
    second.joinOrFail.runSync()

  for capacity <- List(0, 1, Int.MaxValue) do
    test(s"a value goes to the next receiver, channel of capacity $capacity"):
      given WeirRuntime = oneCarrier()
      val channel = Channel.unsafe[Int](capacity)
      val first, second = parked(channel.receive)
      whileCanceled(first, channel.send(1))
      assertEquals(second.joinOrFail.runSync(), 1)

  for capacity <- List(0, 1) do
    test(s"a place goes to the next sender, channel of capacity $capacity"):
      given WeirRuntime = oneCarrier()
      val channel = Channel.unsafe[Int](capacity)
      if capacity > 0 then channel.send(0).runSync()
      val first = parked(channel.send(1))
      val second = parked(channel.send(2))
      whileCanceled(first, channel.receive)
      second.joinOrFail.runSync()

  test("a permit goes to the next in line, for acquire and withPermit"):
    given WeirRuntime = oneCarrier()
    val semaphore = Semaphore.unsafe(0)
    for task <- List(semaphore.acquire, semaphore.withPermit(semaphore.tryAcquire.void)) do
      val first, second = parked(task)
      whileCanceled(first, semaphore.release)
      second.joinOrFail.runSync()
      semaphore.tryAcquire.runSync(): Unit
      assertEquals(semaphore.count.runSync(), 0L)

  test("a mutex goes to the next in line"):
    given WeirRuntime = oneCarrier()
    val mutex = Mutex.unsafe()
    val leave = Deferred.unsafe[Unit]
    val holder = parked(mutex.withLock(leave.get))
    val first, second = parked(mutex.withLock(Task(1)))
    whileCanceled(first, leave.complete(()).andThen(holder.join))
    assertEquals(second.joinOrFail.runSync(), 1)
    assert(!mutex.isLocked.runSync())

  test("what a fiber has handed over runs, though that is cancelled as it suspends, and blocks"):
    given WeirRuntime = oneCarrier()
    val ran = CountDownLatch(1)
    val waits = new Suspend[Unit]:
      def begin(fiber: TaskFiber): Any =
        fiber.handOver(TaskFiber(fiber.runtime, Task(ran.countDown())))
        fiber.requestCancel()
        new Waiter(fiber):
          override def cancelHook: Task[Unit] | Null = Task(ran.await())
    assertEquals(waits.start.flatMap(_.join).runSync(), Outcome.Canceled)

  test("a get and a complete at once: the get is always woken"):
    val pairs = Tier(15_000, 50_000)
    val deferreds = Vector.fill(pairs)(Deferred.unsafe[Int])
    val arrived = AtomicInteger()
    // On a busy machine, steps wait for the other carrier's core.
    val until = Tier(1.second, 3.seconds).fromNow

    /** Does `task` with each of them, in step with the other side, give or take a few instructions.
      */
    def inStep(seed: Int)(task: Deferred[Int] => Task[Any]) =
      val random = SplittableRandom(seed)
      Task.foreach(deferreds.indices) { i =>
        arrived.incrementAndGet()
        var spins = 0
        while arrived.get < 2 * (i + 1) && until.hasTimeLeft() do
          spins += 1
          if spins % 1000 == 0 then Thread.`yield`() else Thread.onSpinWait()
        for _ <- 0 until random.nextInt(8) do Thread.onSpinWait()
        task(deferreds(i))
      }
    Task.both(inStep(1)(_.get), inStep(2)(_.complete(1))).runSync(): Unit

  test("a wait and a release at once: the wait is always woken"):
    val rounds = 100_000
    val semaphore = Semaphore.unsafe(0)
    val together = JdkBarrier(2)
    def run(task: Task[Any]) = Task(together.await()).andThen(Task.foreach(1 to rounds)(_ => task))
    Task.both(run(semaphore.acquire), run(semaphore.release)).runSync(): Unit
    assertEquals(semaphore.count.runSync(), 0L)

  test("code that is to run with a permit, and is cancelled when it has got that, does not run"):
    given WeirRuntime = oneCarrier()
    val ran = AtomicInteger()
    val semaphore = Semaphore.unsafe(0)
    for body <- List(
        Task(ran.incrementAndGet()),
        Task.uncancelable(_ => Task(ran.incrementAndGet())),
        Task.unit.guarantee(Task(ran.incrementAndGet()).void)
      )
    do
      val waits = parked(semaphore.withPermit(body))
      val cancels = Task(waits match { case core: FiberCore => core.requestCancel() })
      semaphore.release.andThen(cancels).start.flatMap(_.joinOrFail).runSync()
      assertEquals(waits.join.runSync(), Outcome.Canceled)
      assert(semaphore.tryAcquire.runSync(), "the permit is given back")
    assertEquals(ran.get, 0)
