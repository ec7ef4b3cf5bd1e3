package weir.testkit.explore

import java.util.SplittableRandom
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.locks.ReentrantLock
import scala.collection.mutable
import scala.concurrent.duration.*
import weir.*

/** The orders that the reduction leaves out end as others do: random programs, compared with all
  * orders under the same bound.
  */
class ReductionSuite extends munit.FunSuite:
  private val seed = sys.props.get("weir.stress.seed").fold(1L)(_.toLong)
  private val programs = sys.props.get("weir.explore.programs").fold(60)(_.toInt)
  private val mostOrders = 4000

  /** The object that the fibers of a program share. */
  private final class Shared:
    val refs: Vector[Ref[Int]] = Vector.fill(2)(Ref.unsafe(0))
    val queue: Queue[Int] = Queue.unsafe(1)
    val deferred: Deferred[Int] = Deferred.unsafe
    val semaphore: Semaphore = Semaphore.unsafe(1)
    val atomic: AtomicInteger = AtomicInteger()
    val lock: ReentrantLock = ReentrantLock()
    val monitor: Object = Object()
    val log: ConcurrentLinkedQueue[Int] = ConcurrentLinkedQueue()
    @volatile var field: Int = 0

  private type Operation = (Shared, Int) => Task[Any]

  private val operations = Vector[(String, Operation)](
    "get" -> ((s, n) => s.refs(n % 2).get),
    "set" -> ((s, n) => s.refs(n % 2).set(n)),
    "update" -> ((s, n) => s.refs(n % 2).updateAndGet(_ * 2 + n)),
    "offer" -> ((s, n) => s.queue.tryOffer(n)),
    "take" -> ((s, _) => s.queue.tryTake),
    "wait for an offer" -> ((s, n) => s.queue.offer(n)),
    "wait for a take" -> ((s, _) => s.queue.take),
    "complete" -> ((s, n) => s.deferred.complete(n)),
    "tryGet" -> ((s, _) => s.deferred.tryGet),
    "deferred" -> ((s, _) => s.deferred.get),
    "permit" -> ((s, n) => s.semaphore.withPermit(s.refs(0).update(_ + n))),
    "tryPermit" -> ((s, _) =>
      s.semaphore.tryAcquire.flatMap(t => Task.when(t)(s.semaphore.release).as(t))
    ),
    "atomic" -> ((s, n) => Task(s.atomic.addAndGet(n))),
    "atomic get" -> ((s, _) => Task(s.atomic.get)),
    "lock" -> ((s, n) =>
      Task {
        s.lock.lock();
        try s.field = s.field * 2 + n
        finally s.lock.unlock()
      }
    ),
    "tryLock" -> ((s, _) => Task { val got = s.lock.tryLock(); if got then s.lock.unlock(); got }),
    "monitor" -> ((s, n) => Task(s.monitor.synchronized { s.field += n; s.atomic.get })),
    "field" -> ((s, _) => Task(s.field)),
    "cede" -> ((_, _) => Task.cede),
    "sleep" -> ((_, _) => Task.sleep(1.milli)),
    "timeout" -> ((s, _) => s.queue.take.timeoutTo(1.milli, Task.pure(-1))),
    "log" -> ((s, n) => Task(s.log.add(n)).andThen(Task(s.log.size)))
  )

  private final case class Program(fibers: Vector[Vector[Int]], cancels: Boolean):
    def task(): Task[Any] = Task.defer:
      val shared = Shared()
      val seen = fibers.map(_ => mutable.ArrayBuffer[Any]())
      def fiber(i: Int) = Task.foreach(fibers(i))(n =>
        operations(n % operations.size)._2(shared, n).map(value => seen(i) += value)
      )
      val all =
        if !cancels then Task.parTraverse(fibers.indices.toVector)(fiber)
        else fiber(0).start.flatMap(first => fiber(1).guarantee(first.cancel))
      all.attempt.andThen(Task(s"${seen.map(_.toList)} ${shared.field} ${shared.atomic.get}"))

    override def toString: String =
      fibers
        .map(_.map(n => s"${operations(n % operations.size)._1}($n)").mkString(" "))
        .mkString(" | ") +
        (if cancels then " (cancelled)" else "")

  private def random(of: SplittableRandom): Program =
    val count = 2 + of.nextInt(2)
    Program(
      Vector.fill(count)(
        Vector.fill(1 + of.nextInt(if count == 2 then 3 else 2))(of.nextInt(1000))
      ),
      cancels = of.nextInt(4) == 0
    )

  /** The ends of all orders; `None` if there are too many. */
  private def ends(
      execution: Execution,
      program: Program,
      search: BoundedSearch
  ): Option[(Set[String], Int)] =
    val ends = mutable.Set[String]()
    var orders = 0
    var more = true
    while more && orders < mostOrders do
      val run = execution.run(() => program.task(), search, null)
      orders += 1
      ends += (if run.failure eq null then run.outcome.nn.get.toString
               else run.failure.nn.getClass.getName)
      assertEquals(search.divergence, null, program.toString)
      more = search.next()
    Option.when(!more)((ends.toSet, orders))

  for earlyTimers <- List(false, true) do
    val timers = if earlyTimers then ", with early timers" else ""
    test(s"random programs end as in all orders with at most 0, 1 and 2 pre-emptions$timers"):
      compare(StepLimits(patienceNanos = 0, earlyTimers = earlyTimers))

  private def compare(limits: StepLimits): Unit =
    Instrumentation.install()
    val execution = Execution(limits)
    val random = SplittableRandom(seed)
    var compared, reduced, all = 0
    val programs = if limits.earlyTimers then this.programs / 3 else this.programs
    for _ <- 1 to programs do
      val program = this.random(random)
      execution.run(() => program.task(), Replay(Nil), null): Unit
      for bound <- 0 to 2 do
        for
          (expected, allOrders) <- ends(execution, program, BoundedSearch(bound, reduces = false))
          (found, orders) <- ends(execution, program, BoundedSearch(bound))
        do
          compared += 1
          reduced += orders
          all += allOrders
          assertEquals(expected -- found, Set.empty, s"not found under the bound $bound: $program")
          assertEquals(found -- expected, Set.empty, s"found only with the reduction: $program")
    println(s"seed $seed: $compared searches, $reduced orders instead of $all, $limits")
    assert(compared > programs, s"$compared")
