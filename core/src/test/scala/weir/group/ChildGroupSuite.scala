package weir.group

import java.util.SplittableRandom
import java.util.concurrent.{ConcurrentHashMap, ConcurrentLinkedQueue, CountDownLatch}
import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger, AtomicLong}
import scala.jdk.CollectionConverters.*
import weir.fiber.{FiberCore, Suspend, TaskFiber}
import weir.runtime.{Job, Pause, Scheduler, SystemTimers, Tuning}
import weir.{Task, Tier, WeirRuntime, WeirSuite}

/** The demand of helpers, and the runners that a group starts. */
class ChildGroupSuite extends WeirSuite:

  /** Two children that are ready. At each look, `takenBetween` more seem to have been taken. */
  private final class Group(takenBetween: Long) extends ChildGroup(limit = 2):
    private val next = AtomicInteger()
    private val taken = AtomicLong()
    def take(runner: Runner): Boolean = next.incrementAndGet() <= 2
    def hasMore: Boolean = next.get < 2
    override def takenCount: Long = taken.getAndAdd(takenBetween)
    def child(runner: Runner): Task[Any] = Task.unit
    def store(runner: Runner, value: Any): Unit = ()
    def result: Any = ()

  /** Asks each job that is queued until it answers something else than `Later`, as the standby
    * does.
    */
  private final class Asking extends Scheduler(1, 16):
    private val answers = ConcurrentLinkedQueue[(Int, Int)]()

    /** Returns the number of times that each job has answered `Later`, and its answer after that.
      */
    def all: List[(Int, Int)] = answers.asScala.toList

    override def submit(job: Job, preferredShard: Int): Unit =
      var later = 0
      var answer = job.demand
      while answer == Job.Later && later < 1000 do
        later += 1
        answer = job.demand
      answers.add((later, answer)): Unit
      super.submit(job, preferredShard)

  /** Returns the number of times that the helper of such a group says that it is not demanded yet.
    *
    * @param spawned true if a runner has been started on a worker of its own
    */
  private def laterWith(takenBetween: Long, spawned: Boolean = false): Int =
    val scheduler = Asking()
    val group = Group(takenBetween)
    group.isRegistered = spawned
    val run = new Suspend[Any]:
      def begin(fiber: TaskFiber): Any = group.start(fiber)
    run.runSync()(using WeirRuntime(scheduler, SystemTimers(), null)): Unit
    eventually("the helper has ended too")(scheduler.isQuiet)
    scheduler.all match
      case List((later, Job.Now)) => later
      case other => fail(s"There should be one helper, demanded in the end, not $other")

  test("a helper is demanded at once where the others have taken nothing meanwhile"):
    assertEquals(laterWith(0), 0)

  test("a helper is demanded at the second look where the others take few"):
    assertEquals(laterWith(1), 1)
    assertEquals(laterWith(Tuning.watchedGroup - 1), 1)

  test("a helper is demanded after a while, however fast the others get on"):
    assertEquals(laterWith(Tuning.watchedGroup), Tuning.watchRounds)
    assertEquals(laterWith(1_000_000), Tuning.watchRounds)

  test("a helper is demanded at once where children have blocked, however fast the others are"):
    assertEquals(laterWith(1_000_000, spawned = true), 0)

  /** Four children that are ready. During the first look for more children, a helper is requested,
    * and begins.
    */
  private final class SlowLook extends ChildGroup(limit = 2):
    private val next = AtomicInteger()
    private val isFirst = AtomicBoolean(true)
    private val second = CountDownLatch(1)
    val runners = ConcurrentHashMap.newKeySet[Runner]()
    def take(runner: Runner): Boolean =
      runners.add(runner): Unit
      if runners.size > 1 then second.countDown()
      next.incrementAndGet() <= 4
    def hasMore: Boolean =
      if isFirst.getAndSet(false) then
        requestHelper(null)
        second.await()
        true
      else next.get < 4
    def child(runner: Runner): Task[Any] = Task.unit
    def store(runner: Runner, value: Any): Unit = ()
    def result: Any = ()

  test("two runners that look at once whether there is more start no runner beyond the limit"):
    val helpers = AtomicInteger()
    val scheduler = new Scheduler(2, 16):
      override def submit(job: Job, preferredShard: Int): Unit =
        helpers.incrementAndGet(): Unit
        super.submit(job, preferredShard)
    val group = SlowLook()
    val run = new Suspend[Any]:
      def begin(fiber: TaskFiber): Any = group.start(fiber)
    run.runSync()(using WeirRuntime(scheduler, SystemTimers(), null)): Unit
    eventually("all runners have ended")(scheduler.isQuiet)
    assertEquals((group.runners.size, helpers.get), (2, 1))

  /** One child, which another runner leaves to the first runner, after that has found nothing. */
  private final class LeftLate extends ChildGroup(limit = 2):
    private var looks = 0
    var ran = false
    override val callSiteKey: Int = 7
    def take(runner: Runner): Boolean =
      looks += 1
      looks == 2
    def hasMore: Boolean = looks < 2
    def child(runner: Runner): Task[Any] = Task { ran = true }
    def store(runner: Runner, value: Any): Unit = ()
    def result: Any = ()

  test("a first runner that withdraws its request looks once more for what others have left"):
    val runtime = LearningRuntime(Scheduler(1, 16), begin = _ => ())
    for _ <- 1 to Tuning.needlessHelperRequests do runtime.helperRequests.learn(7, 0)
    val group = LeftLate()
    val run = new Suspend[Any]:
      def begin(fiber: TaskFiber): Any = group.start(fiber)
    run.runSync()(using runtime): Unit
    assert(group.ran)

  /** One child, which stops the group, and requests one more runner. That is demanded before the
    * group has ended, and begins afterwards.
    */
  private final class Stops extends ChildGroup(limit = 2):
    private val looks = AtomicInteger()
    val lateTakes, ends = AtomicInteger()
    private def spinUntil(isSo: => Boolean): Unit = while !isSo do Thread.`yield`()

    override def takenCount: Long =
      if looks.incrementAndGet() > 1 then spinUntil(hasEnded) // by the standby
      0
    def take(runner: Runner): Boolean =
      if isStopped then lateTakes.incrementAndGet(): Unit
      !isStopped
    def hasMore: Boolean = isStopped
    def child(runner: Runner): Task[Any] = Task {
      stop(ChildGroup.Stop.Failed(Boom()))
      requestHelper(null)
      spinUntil(looks.get > 1)
    }
    def store(runner: Runner, value: Any): Unit = ()
    def result: Any = ()
    override def onEnd(): Unit = ends.incrementAndGet(): Unit

  test("no runner takes a child once the group is stopped, and a late one ends it no second time"):
    val scheduler = Scheduler(2, 16)
    val group = Stops()
    val run = new Suspend[Any]:
      def begin(fiber: TaskFiber): Any = group.start(fiber)
    assert(run.attempt.runSync()(using WeirRuntime(scheduler, SystemTimers(), null)).isLeft)
    eventually("the late runner has ended too")(
      group.latestRunner.nn.next != null && scheduler.isQuiet
    )
    assertEquals((group.lateTakes.get, group.ends.get), (0, 1))

  /** Returns the number of runners that were queued, and of those that were started on a worker of
    * their own, for `children` that wait for each other.
    */
  private def runners(children: Int): (Int, Int) =
    val submits, spawnCalls = AtomicInteger()
    val scheduler = new Scheduler(1, 16):
      override def submit(job: Job, preferredShard: Int): Unit =
        submits.incrementAndGet(): Unit
        super.submit(job, preferredShard)
      override def spawn(job: Job, slot: Int): Unit =
        spawnCalls.incrementAndGet(): Unit
        super.spawn(job, slot)
    given WeirRuntime = WeirRuntime(scheduler, SystemTimers(), null)
    val all = CountDownLatch(children)
    val group = Task.parTraverse(1 to children)(_ => Task { all.countDown(); all.await() })
    val fiber = group.start.runSync()
    eventually("it has ended, and nobody works any more") {
      fiber match { case core: FiberCore => (core.outcome ne null) && scheduler.isQuiet }
    }
    (submits.get - 1, spawnCalls.get) // less the parent

  test("no runner is queued or started where no child is left for it"):
    assertEquals(runners(1), (0, 0))
    assertEquals(runners(2), (1, 0))
    val (_, spawned) = runners(20)
    assert(spawned > 0, "runners of children that block start others")

  test("stress: a child that is taken as its group is stopped is cancelled"):
    given WeirRuntime = WeirRuntime.make(2, 16)
    val random = SplittableRandom()
    val until = System.nanoTime() + Tier(300_000_000L, 3_000_000_000L)
    while System.nanoTime() < until do
      val nanos = random.nextInt(20_000)
      val stops = Task { Pause.nanos(nanos); throw Boom() }
      assert(Task.both(stops, Task.never).attempt.runSync().isLeft)
