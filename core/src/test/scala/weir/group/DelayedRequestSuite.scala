package weir.group

import java.util.concurrent.{CompletableFuture, ConcurrentLinkedQueue, CountDownLatch}
import java.util.concurrent.atomic.AtomicInteger
import scala.concurrent.duration.*
import weir.fiber.{Suspend, TaskFiber}
import weir.runtime.{Job, Scheduler, Tuning}
import weir.{Task, WeirRuntime, WeirSuite}

/** A group from a call site that has lately needed no helper delays its helper request; if a child
  * needs a helper after all, one comes.
  */
class DelayedRequestSuite extends WeirSuite:

  private class Counting extends Scheduler(2, 16):
    val submits = AtomicInteger()

    override def submit(job: Job, preferredShard: Int): Unit =
      submits.incrementAndGet(): Unit
      super.submit(job, preferredShard)

  /** Groups from one call site: of 50 children, each of which is a `child`, or runs `action`. */
  private final class Groups(val runtime: LearningRuntime):
    given WeirRuntime = runtime
    @volatile var action: Int => Any = identity
    @volatile var child: Int => Task[Any] = i => Task(action(i))

    private val children = (0 until 50).toList
    private val group = Task.parTraverse(children)(i => child(i))

    def run(): List[Any] = group.runSync()

    /** Runs groups until one has requested no helper. */
    def learn(counting: Counting): Unit =
      val deadline = 10.seconds.fromNow
      var requested = true
      while requested do
        assert(deadline.hasTimeLeft(), "no group has delayed its request within 10 s")
        val before = counting.submits.get
        assertEquals(run(), children)
        requested = counting.submits.get > before

  /** Groups that have been ready so often that they delay their requests. */
  private def ready(scheduler: Counting = Counting()): Groups =
    ready(LearningRuntime(scheduler), scheduler)

  private def ready(runtime: LearningRuntime, scheduler: Counting): Groups =
    val groups = Groups(runtime)
    groups.learn(scheduler)
    groups

  /** Returns the code of each of 50 children, which ends once all of them have begun. */
  private def untilAllHaveBegun(): Int => Any =
    val all = CountDownLatch(50)
    _ =>
      all.countDown()
      await(all)

  test("a group of ready children requests no helper once groups like it have needed none"):
    val scheduler = Counting()
    val groups = Groups(LearningRuntime(scheduler))
    groups.run(): Unit
    assert(scheduler.submits.get > 0)
    groups.learn(scheduler)
    eventually("of 100 groups none requests a helper") {
      val before = scheduler.submits.get
      for _ <- 1 to 100 do groups.run(): Unit
      scheduler.submits.get == before
    }

  test("children that block after all run at once"):
    val groups = ready()
    groups.action = untilAllHaveBegun()
    groups.run(): Unit

  test("a child that computes after all holds up none behind it"):
    val groups = ready()
    val others = CountDownLatch(49)
    groups.action =
      i => if i == 0 then while others.getCount > 0 do Thread.onSpinWait() else others.countDown()
    groups.run(): Unit

  test("a child that waits for a nested run holds up none behind it"):
    val groups = ready()
    given WeirRuntime = groups.runtime
    val others = CountDownLatch(49)
    groups.action = i =>
      if i == 0 then Task(others.await()).start.flatMap(_.joinOrFail).runSync()
      else others.countDown()
    groups.run(): Unit

  test("a group whose child waits requests a helper at once"):
    val groups = readyWhereNobodyLooks()
    val left = AtomicInteger(49)
    val all = CompletableFuture[Int]()
    groups.child = i =>
      if i == 0 then Task.fromCompletionStage(all)
      else Task(if left.decrementAndGet() == 0 then all.complete(0): Unit)
    groups.run(): Unit

  test(
    "children that yield while nothing is queued request no helper; one that blocks holds up none"
  ):
    val scheduler = Counting()
    val groups = Groups(LearningRuntime(scheduler))
    groups.child = i => Task.cede.as(i)
    groups.learn(scheduler)
    val others = CountDownLatch(49)
    groups.child = i =>
      if i == 0 then Task.cede.map(_ => others.await()) else Task.cede.map(_ => others.countDown())
    groups.run(): Unit

  test("a group that has needed a helper makes the next one request its helper at once"):
    val scheduler = Counting()
    val groups = ready(scheduler)
    groups.runtime.measures = true
    groups.action = _ => Thread.sleep(20)
    groups.run(): Unit
    groups.action = identity
    val before = scheduler.submits.get
    groups.run(): Unit
    assert(scheduler.submits.get > before)

  test("a failure and a cancel leave nothing behind, and later groups are as ever"):
    val groups = ready()
    groups.action = i => if i == 7 then throw Boom() else i
    intercept[Boom](groups.run()): Unit
    val entered = CountDownLatch(1)
    groups.action = _ =>
      entered.countDown()
      Thread.sleep(60_000)
    given WeirRuntime = groups.runtime
    val fiber = Task(groups.run()).start.runSync()
    await(entered)
    fiber.cancel.runSync()
    groups.action = identity
    assertEquals(groups.run(), (0 until 50).toList)
    settles(groups.runtime)

  /** As `ready`, but on a runtime in which no thread looks at the delayed requests. */
  private def readyWhereNobodyLooks(): Groups =
    val scheduler = Counting()
    ready(LearningRuntime(scheduler, begin = _ => ()), scheduler)

  private object Other extends HelperRequests.Requester:
    def isBlocked: Boolean = false
    def requestNow(): Unit = ()

  private def isOccupied(requests: HelperRequests)(shard: Int): Boolean =
    val slot = requests.delay(shard, Other)
    slot < 0 || !requests.withdraw(slot, Other)

  for (end, ends) <- List("fails" -> Task.fail(Boom()), "cancels itself" -> Task.canceled) do
    test(s"a group that has delayed its request, and whose first child $end, withdraws it"):
      val scheduler = Counting()
      val groups = ready(LearningRuntime(scheduler, begin = _ => ()), scheduler)
      val requests = groups.runtime.helperRequests
      given WeirRuntime = groups.runtime
      @volatile var occupied = 0
      val child = (i: Int) =>
        if i > 0 then Task(i)
        else
          occupied = (0 until Tuning.helperRequestSlots).count(isOccupied(requests))
          ends
      eventually("it had delayed it") {
        groups.child = i => Task(i)
        groups.learn(scheduler)
        groups.child = child
        Task(groups.run()).start.flatMap(_.join).runSync(): Unit
        eventually("it has ended")(scheduler.isQuiet)
        assertEquals((0 until Tuning.helperRequestSlots).count(isOccupied(requests)), 0)
        occupied == 1
      }

  test("a request that was delayed, and could not be queued, is queued later"):
    val refused = CountDownLatch(1)
    val scheduler = new Counting:
      override def submit(job: Job, preferredShard: Int): Unit =
        if Thread.currentThread().getName == "weir-helper-requests" && refused.getCount > 0 then
          refused.countDown()
          throw OutOfMemoryError("a test's own")
        super.submit(job, preferredShard)
    given WeirRuntime = LearningRuntime(scheduler)
    @volatile var second = CountDownLatch(0)
    val pair = Task.parTraverseN(2)(List(0, 1)) { i =>
      Task(if i == 0 then second.await() else second.countDown())
    }
    val deadline = 10.seconds.fromNow
    while refused.getCount > 0 do
      assert(deadline.hasTimeLeft(), "nothing was delayed within 10 s")
      second = CountDownLatch(0)
      for _ <- 1 to 2 * Tuning.needlessHelperRequests do pair.runSync(): Unit
      second = CountDownLatch(1)
      pair.runSync(): Unit

  test("the fiber of a group's first runner does not keep the group once it has ended"):
    val groups = readyWhereNobodyLooks()
    val fibers = ConcurrentLinkedQueue[TaskFiber]()
    val notes = new Suspend[Any]:
      def begin(fiber: TaskFiber): Any = fibers.add(fiber): Unit
    groups.child = i => if i == 49 then notes else Task(i)
    groups.run(): Unit
    assertEquals(fibers.size, 1)
    assert(fibers.peek().frameToNotify eq null)

  test("where the system has no thread for delayed requests, groups request helpers at once"):
    val scheduler = Counting()
    val noThread: Thread => Unit = _ => throw OutOfMemoryError("no thread")
    val groups = Groups(LearningRuntime(scheduler, noThread))
    for _ <- 1 to 2 * Tuning.needlessHelperRequests do groups.run(): Unit
    val before = scheduler.submits.get
    groups.action = untilAllHaveBegun()
    groups.run(): Unit
    assert(scheduler.submits.get > before)
