package weir.task

import java.util.concurrent.{CompletableFuture, CountDownLatch}
import java.util.concurrent.atomic.AtomicInteger
import scala.concurrent.duration.*
import weir.runtime.{Invitations, Job, Scheduler, SystemTimers, Tuning}
import weir.{Gauge, Runtime, Task, WeirSuite}

/** Groups of a kind that has needed nobody wake nobody. When one of them needs somebody after all, he comes. */
class PutOffSuite extends WeirSuite:

  private class Counting extends Scheduler(2, 16):
    val submits = AtomicInteger()

    override def submit(job: Job, home: Int): Unit =
      submits.incrementAndGet(): Unit
      super.submit(job, home)

  /** Groups of one kind: of 50 children, each of which is a `child`, or runs `action`. */
  private final class Groups(scheduler: Scheduler = Counting()):
    given runtime: Runtime = Runtime(scheduler, SystemTimers(), null)
    @volatile var action: Int => Any = identity
    @volatile var child: Int => Task[Any] = i => Task(action(i))

    private val children = (0 until 50).toList
    private val group = Task.parTraverse(children)(i => child(i))

    def run(): List[Any] = group.runSync()

    /** Runs groups until one has invited nobody: one right after the other, since a thread that has slept is slow at first, and groups that
      * are slow teach nothing.
      */
    def learn(counting: Counting): Unit =
      val deadline = 5.seconds.fromNow
      var invited = true
      while invited do
        assert(deadline.hasTimeLeft(), "no group has put its invitation off within 5 s")
        val before = counting.submits.get
        assertEquals(run(), children)
        invited = counting.submits.get > before

  /** Groups that have been ready so often that they put their invitations off. */
  private def ready(scheduler: Counting = Counting()): Groups =
    val groups = Groups(scheduler)
    groups.learn(scheduler)
    groups

  test("a group of ready children invites nobody once groups like it have needed nobody"):
    val scheduler = Counting()
    val groups = Groups(scheduler)
    groups.run(): Unit
    assert(scheduler.submits.get > 0)
    groups.learn(scheduler)
    eventually("of 100 groups none invites") {
      val before = scheduler.submits.get
      for _ <- 1 to 100 do groups.run(): Unit
      scheduler.submits.get == before
    }

  test("children that block after all run at once"):
    val groups = ready()
    val asleep = Gauge()
    groups.action = _ =>
      asleep.enter(): Unit
      Thread.sleep(200)
      asleep.leave()
    val (_, took) = timed(groups.run())
    assertEquals(asleep.peak, 50)
    assert(took < 5.seconds, s"took $took")

  test("a child that computes after all holds up none behind it"):
    val groups = ready()
    val others = CountDownLatch(49)
    groups.action =
      i => if i == 0 then while others.getCount > 0 do Thread.onSpinWait() else others.countDown()
    groups.run(): Unit

  test("a child that waits for a nested run holds up none behind it"):
    val groups = ready()
    import groups.runtime
    val others = CountDownLatch(49)
    groups.action = i =>
      if i == 0 then Task(others.await()).start.flatMap(_.joinOrFail).runSync()
      else others.countDown()
    groups.run(): Unit

  test("a group whose child waits invites at once"):
    val nobodyLooks = new Counting:
      override val invitations: Invitations = Invitations(_ => ())
    val groups = ready(nobodyLooks)
    val left = AtomicInteger(49)
    val all = CompletableFuture[Int]()
    groups.child = i =>
      if i == 0 then Task.fromCompletionStage(all)
      else Task(if left.decrementAndGet() == 0 then all.complete(0): Unit)
    groups.run(): Unit

  test(
    "children that yield while nothing is queued invite nobody either; one that blocks then holds up none"
  ):
    val scheduler = Counting()
    val groups = Groups(scheduler)
    groups.child = i => Task.cede.as(i)
    groups.learn(scheduler)
    val others = CountDownLatch(49)
    groups.child = i =>
      if i == 0 then Task.cede.map(_ => others.await()) else Task.cede.map(_ => others.countDown())
    groups.run(): Unit

  test("a group that has needed somebody is the first of its kind again"):
    val scheduler = Counting()
    val groups = ready(scheduler)
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
    import groups.runtime
    val fiber = Task(groups.run()).start.runSync()
    await(entered)
    fiber.cancel.runSync()
    groups.action = identity
    assertEquals(groups.run(), (0 until 50).toList)
    settles(runtime)

  test("where the system has no thread to look after them, groups invite at once"):
    val scheduler = new Counting:
      override val invitations: Invitations = Invitations(_ => throw OutOfMemoryError("no thread"))
    val groups = Groups(scheduler)
    for _ <- 1 to 2 * Tuning.needlessInvitations do groups.run(): Unit
    val before = scheduler.submits.get
    groups.action = _ => Thread.sleep(100)
    val (_, took) = timed(groups.run())
    assert(scheduler.submits.get > before)
    assert(took < 3.seconds, s"took $took")
