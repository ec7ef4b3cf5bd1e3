package weir.task

import java.util.concurrent.{ConcurrentHashMap, ConcurrentLinkedQueue, CountDownLatch}
import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger, AtomicLong}
import scala.jdk.CollectionConverters.*
import weir.kernel.{RunLoop, Suspend}
import weir.runtime.{Job, Scheduler, SystemTimers, Tuning}
import weir.{Runtime, Task, WeirSuite}

/** When an invited runner says that it is needed. */
class ClaimsSuite extends WeirSuite:

  /** Two children that are ready. At each look, `claimedBetween` more seem to have been claimed. */
  private final class Group(claimedBetween: Long) extends Claims(limit = 2):
    private val next = AtomicInteger()
    private val claimed = AtomicLong()
    def claim(runner: Runner): Boolean = next.incrementAndGet() <= 2
    def hasMore: Boolean = next.get < 2
    override def claimedCount: Long = claimed.getAndAdd(claimedBetween)
    def child(runner: Runner): Task[Any] = Task.unit
    def store(runner: Runner, value: Any): Unit = ()
    def result: Any = ()

  /** Asks each job that is queued until it says something else than `Later`, as the standby does. */
  private final class Asking extends Scheduler(1, 16):
    private val answers = ConcurrentLinkedQueue[(Int, Int)]()

    /** How often each has said `Later`, and what it has said then. */
    def all: List[(Int, Int)] = answers.asScala.toList

    override def submit(job: Job, home: Int): Unit =
      var later = 0
      var answer = job.need
      while answer == Job.Later && later < 1000 do
        later += 1
        answer = job.need
      answers.add((later, answer)): Unit
      super.submit(job, home)

  /** How often the invited runner of such a group says that it is not needed yet.
    *
    * @param spawned
    *   whether a runner has been started on a worker of its own
    */
  private def laterWith(claimedBetween: Long, spawned: Boolean = false): Int =
    val scheduler = Asking()
    val group = Group(claimedBetween)
    group.shown = spawned
    val run = new Suspend[Any]:
      def begin(fiber: RunLoop): Any = group.start(fiber)
    run.runSync()(using Runtime(scheduler, SystemTimers(), null)): Unit
    eventually("the invited runner has ended too")(scheduler.isQuiet)
    scheduler.all match
      case List((later, Job.Now)) => later
      case other => fail(s"There should be one invited runner, needed in the end, not $other")

  test("an invited runner is needed at once where the others have claimed nothing meanwhile"):
    assertEquals(laterWith(0), 0)

  test("an invited runner is needed at the second look where the others claim few"):
    assertEquals(laterWith(1), 1)
    assertEquals(laterWith(Tuning.watchedClaims - 1), 1)

  test("an invited runner is needed after a while, however fast the others get on"):
    assertEquals(laterWith(Tuning.watchedClaims), Tuning.watchRounds)
    assertEquals(laterWith(1_000_000), Tuning.watchRounds)

  test(
    "an invited runner is needed at once where children have blocked, however fast the others get on"
  ):
    assertEquals(laterWith(1_000_000, spawned = true), 0)

  /** Four children that are ready. During the first look whether there are more, another runner is invited, and begins. */
  private final class SlowLook extends Claims(limit = 2):
    private val next = AtomicInteger()
    private val isFirst = AtomicBoolean(true)
    private val second = CountDownLatch(1)
    val runners = ConcurrentHashMap.newKeySet[Runner]()
    def claim(runner: Runner): Boolean =
      runners.add(runner): Unit
      if runners.size > 1 then second.countDown()
      next.incrementAndGet() <= 4
    def hasMore: Boolean =
      if isFirst.getAndSet(false) then
        inviteOne(null)
        second.await()
        true
      else next.get < 4
    def child(runner: Runner): Task[Any] = Task.unit
    def store(runner: Runner, value: Any): Unit = ()
    def result: Any = ()

  test("two that look at once whether there is more start no runner beyond the limit"):
    val scheduler = Scheduler(2, 16)
    val group = SlowLook()
    val run = new Suspend[Any]:
      def begin(fiber: RunLoop): Any = group.start(fiber)
    run.runSync()(using Runtime(scheduler, SystemTimers(), null)): Unit
    eventually("all runners have ended")(scheduler.isQuiet)
    assertEquals(group.runners.size, 2)
