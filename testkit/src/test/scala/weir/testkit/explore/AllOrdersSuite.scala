package weir.testkit.explore

import java.util.SplittableRandom
import java.util.concurrent.Semaphore as JavaSemaphore
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.locks.ReentrantLock
import scala.collection.mutable
import scala.concurrent.duration.{Duration, DurationInt}
import weir.{Ref, Task}
import weir.testkit.TestRuntime

/** Random small programs end as a plain enumeration of their orders tells: explored, they show each
  * end that an order with as many pre-emptions has, and none that no order has.
  */
class AllOrdersSuite extends munit.FunSuite:
  private val seed = sys.props.get("weir.stress.seed").fold(1L)(_.toLong)
  private val programs = sys.props.get("weir.explore.programs").fold(40)(_.toInt)
  private val mostOrders = 2000
  override val munitTimeout: Duration = 20.minutes // of the long tier

  /** The state that the fibers of a program share: code that is explored. */
  private final class Shared(fibers: Int):
    private val atomics = Vector.fill(2)(AtomicInteger())
    private var field = 0
    private val array = new Array[Int](1)
    private val ref = Ref.unsafe(0)
    private val locks = Vector.fill(2)(ReentrantLock())
    private val monitor = Object()
    private val permits = JavaSemaphore(0)
    private val seen = Seen(fibers)

    def task(fiber: Int, items: Vector[Item], areTasks: Boolean): Task[Any] =
      if areTasks then Task.foreach(items)(instruction(fiber, _))
      else Task(items.foreach(run(fiber, _)))

    private def instruction(fiber: Int, item: Item): Task[Any] = item match
      case Item.Yield => Task.cede
      case Item.Get(SmallProgram.ref) => ref.get.map(seen.add(fiber, _))
      case Item.Set(SmallProgram.ref, value) => ref.set(value)
      case Item.Put(SmallProgram.ref, more) => Task.defer(ref.set(seen.latest(fiber) + more))
      case _ => Task(run(fiber, item))

    private def run(fiber: Int, item: Item): Unit = item match
      case Item.Get(of) => seen.add(fiber, get(of))
      case Item.Set(of, value) => set(of, value)
      case Item.Put(of, more) => set(of, seen.latest(fiber) + more)
      case Item.Increment(of) => seen.add(fiber, atomics(of).incrementAndGet())
      case Item.Swap(of, from, to) =>
        seen.add(fiber, if atomics(of).compareAndSet(from, to) then 1 else 0)
      case Item.Locked(SmallProgram.monitor, body) =>
        monitor.synchronized(body.foreach(run(fiber, _)))
      case Item.Locked(lock, body) =>
        locks(lock).lock()
        body.foreach(run(fiber, _))
        locks(lock).unlock()
      case Item.IfLocked(lock, body) =>
        val got = locks(lock).tryLock()
        seen.add(fiber, if got then 1 else 0)
        if got then
          body.foreach(run(fiber, _))
          locks(lock).unlock()
      case Item.Acquire => permits.acquireUninterruptibly()
      case Item.Release => permits.release()
      case Item.TryAcquire => seen.add(fiber, if permits.tryAcquire() then 1 else 0)
      case Item.Yield => Thread.`yield`()

    private def get(of: Int): Int = of match
      case 2 => field
      case 3 => array(0)
      case _ => atomics(of).get

    private def set(of: Int, value: Int): Unit = of match
      case 2 => field = value
      case 3 => array(0) = value
      case _ => atomics(of).set(value)

    def end: Task[String] =
      ref.get.map(last => seen.text((0 until SmallProgram.ref).map(get) :+ last))

  private def task(program: SmallProgram): Task[String] = Task.defer {
    val shared = Shared(program.fibers.size)
    for
      fibers <- Task.traverse(program.fibers.zipWithIndex)((items, i) =>
        shared.task(i, items, program.areTasks).start
      )
      _ <- Task.foreach(fibers)(_.join)
      end <- shared.end
    yield end
  }

  /** The ends of all orders with at most so many pre-emptions; `None` if there are too many. */
  private def explored(
      execution: Execution,
      program: SmallProgram,
      preemptions: Int
  ): Option[(Set[String], Int)] =
    val ends = mutable.Set[String]()
    val search = BoundedSearch(preemptions, yieldsInRow = Int.MaxValue)
    var orders = 0
    var more = true
    while more && orders < mostOrders do
      val run = execution.run(() => task(program), search, null)
      orders += 1
      ends += (run.failure match
        case null => s"${run.outcome.nn.get}"
        case _: TestRuntime.Stuck => "stuck"
        case error => throw error)
      assertEquals(search.divergence, null, s"$program")
      more = search.next()
    Option.when(!more)((ends.toSet, orders))

  test(
    s"random programs have the ends of all orders with at most 0, 1, 2 pre-emptions, seed $seed"
  ):
    Instrumentation.install()
    val execution = Execution(StepLimits(patienceNanos = 0, plainFields = true))
    val random = SplittableRandom(seed)
    var compared, orders, ends = 0
    for _ <- 1 to programs do
      val program = SmallProgram.random(random)
      execution.run(() => task(program), Replay(Nil), null): Unit
      val all = AllOrders(program)
      val possible = all.ends(Int.MaxValue)
      for preemptions <- 0 to 2; (found, count) <- explored(execution, program, preemptions) do
        val expected = all.ends(preemptions)
        compared += 1
        orders += count
        ends += expected.size
        assertEquals(
          (expected -- found).toList.sorted,
          Nil,
          s"not found with $preemptions pre-emptions, in $count orders: $program"
        )
        assertEquals((found -- possible).toList.sorted, Nil, s"in no order: $program")
    println(s"$compared searches of small programs: $orders orders, $ends ends")
    assert(compared > programs * 2, s"$compared")
