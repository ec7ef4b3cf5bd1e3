package weir

import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger}
import scala.concurrent.Promise
import scala.concurrent.duration.*

/** Counts the children that are inside at once, and the largest number of them so far. */
final class Gauge:
  private val inside, most = AtomicInteger()

  def enter(): Int =
    val now = inside.incrementAndGet()
    most.accumulateAndGet(now, math.max): Unit
    now

  def leave(): Unit = inside.decrementAndGet(): Unit
  def now: Int = inside.get
  def peak: Int = most.get

/** The tests of every operator that runs a task for each item, at most a given number at a time. */
trait ParallelTests extends WeirSuite:

  def run(parallelism: Int, items: Iterable[Int])(f: Int => Task[Int]): Task[Any]

  /** Children that each enter the gauge, and wait until `n` are inside. Hangs if they never are. */
  private def crowd(n: Int, gauge: Gauge, blocking: Boolean): Int => Task[Int] =
    val latch = CountDownLatch(1)
    val promise = Promise[Unit]()
    i =>
      val enter = Task {
        if gauge.enter() == n then
          latch.countDown()
          promise.trySuccess(()): Unit
      }
      val wait = if blocking then Task(latch.await()) else Task.fromFuture(promise.future)
      enter.andThen(wait).andThen(Task.cede).andThen(Task(gauge.leave())).as(i)

  for
    n <- List(1, 2, 16, 64, 1000)
    blocking <- List(false, true)
  do
    test(
      s"$n are in flight, never more, with children that ${if blocking then "block" else "wait"}"
    ):
      val gauge = Gauge()
      run(n, 1 to 3 * n)(crowd(n, gauge, blocking)).runSync(): Unit
      assertEquals((gauge.peak, gauge.now), (n, 0))

  test("ready children never exceed the bound either"):
    val gauge = Gauge()
    run(3, 1 to 20_000) { i =>
      Task(gauge.enter()).flatMap(_ => if i % 7 == 0 then Task.cede else Task.unit).map { _ =>
        gauge.leave()
        i
      }
    }.runSync(): Unit
    assert(gauge.peak <= 3, s"peak ${gauge.peak}")

  test("no items, and one"):
    val runs = AtomicInteger()
    for n <- List(1, 8) do
      run(n, Nil)(_ => Task(runs.incrementAndGet())).runSync(): Unit
      assertEquals(runs.get, 0)
      run(n, List(1))(_ => Task.cede.andThen(Task(runs.incrementAndGet()))).runSync(): Unit
      assertEquals(runs.getAndSet(0), 1)

  for n <- List(0, -1) do
    test(s"parallelism $n is refused with its value and the rule"):
      val error = intercept[IllegalArgumentException](
        Task.defer(run(n, List(1))(Task.pure)).runSync()
      )
      assert(error.getMessage.contains(s"was $n"), error.getMessage)
      assert(error.getMessage.contains("at least 1"), error.getMessage)

  for (state, wait) <- List("wait" -> Task.never, "block" -> Task(Thread.sleep(3_600_000))) do
    test(s"the first failure cancels siblings that $state, and is thrown after their finalizers"):
      val boom = Boom()
      for _ <- 1 to 20 do
        val begun = CountDownLatch(9)
        val released = AtomicInteger()
        val task = run(10, 1 to 10) {
          case 5 => Task(begun.await()).andThen(Task.fail(boom))
          case i =>
            Task(begun.countDown())
              .andThen(wait)
              .as(i)
              .guarantee(Task.cede.andThen(Task(released.incrementAndGet()).void))
        }
        assertEquals(task.attempt.map(result => (result, released.get)).runSync(), (Left(boom), 9))

  test("a failure after the first is suppressed under it"):
    val first, second = Boom()
    val begun = CountDownLatch(2)
    val canceled = CountDownLatch(1)
    val task = run(3, 1 to 3) {
      case 1 => Task(begun.await()).andThen(Task.fail(first))
      case 2 =>
        Task.uncancelable(_ =>
          Task(begun.countDown()).andThen(Task(canceled.await())).andThen(Task.fail(second))
        )
      case _ => Task(begun.countDown()).andThen(Task.never).onCancel(Task(canceled.countDown()))
    }
    assertEquals(task.attempt.runSync(), Left(first))
    assertEquals(first.getSuppressed.toList, List(second))

  for n <- List(1, 8, 64) do
    test(s"a failure at the first of a million starts at most $n"):
      val begun = AtomicInteger()
      val task = run(n, 1 to 1_000_000) { i =>
        begun.incrementAndGet()
        if i == 1 then Task.fail(Boom()) else Task.never
      }
      intercept[Boom](task.runSync())
      assert(begun.get <= n, s"${begun.get} begun")

  test("a function that throws, and items that throw, fail the whole"):
    val boom = Boom()
    val released = AtomicInteger()
    def child(i: Int) = Task.never.as(i).guarantee(Task(released.incrementAndGet()).void)
    val inFunction = run(4, 1 to 10)(i => if i == 4 then throw boom else child(i))
    assertEquals(inFunction.attempt.runSync(), Left(boom))
    val items = (1 to 10).view.map(i => if i == 4 then throw boom else i)
    assertEquals(Task.defer(run(4, items)(child)).attempt.runSync(), Left(boom))

  test("a cancel of the whole waits for the finalizers of all children"):
    for wait <- List(Task.never, Task(Thread.sleep(3_600_000)), Task.cede.forever); _ <- 1 to 10 do
      val begun = CountDownLatch(8)
      val released = AtomicInteger()
      val slow =
        Task.cede.andThen(Task.sleep(1.milli)).andThen(Task(released.incrementAndGet()).void)
      val whole = run(8, 1 to 100)(i => Task(begun.countDown()).andThen(wait).as(i).guarantee(slow))
      val fiber = whole.start.runSync()
      await(begun)
      fiber.cancel.runSync()
      assertEquals(released.get, 8)
      assertEquals(fiber.join.runSync(), Outcome.Canceled)

  test("cancelled at any moment, as many children are released as were begun"):
    val random = scala.util.Random(5)
    for _ <- 1 to 500 do
      val begun, released = AtomicInteger()
      val child = Task.uncancelable(poll =>
        Task(begun.incrementAndGet())
          .andThen(poll(Task.foreach(1 to 20)(_ => Task.cede)))
          .guarantee(Task(released.incrementAndGet()).void)
      )
      val fiber = run(4, 1 to 50)(i => child.as(i)).start.runSync()
      val until = System.nanoTime() + random.nextInt(200_000)
      while System.nanoTime() < until do Thread.onSpinWait()
      fiber.cancel.runSync()
      assertEquals(released.get, begun.get)

  test("a child that cancels itself ends the whole, with its siblings released"):
    val begun = CountDownLatch(1)
    val released = AtomicBoolean()
    val whole = run(2, 1 to 2) {
      case 1 => Task(begun.await()).andThen(Task.canceled).as(1)
      case i =>
        Task(begun.countDown()).andThen(Task.never).as(i).guarantee(Task(released.set(true)))
    }
    val outcome = whole.start.flatMap(_.join).runSync()
    assert(released.get)
    outcome match
      case Outcome.Succeeded(value) => fail(s"succeeded with $value")
      case _ => ()

  test("it nests in itself three deep, waiting and blocking at the bottom"):
    for leaf <- List(Task.unit, Task.cede, Task.sleep(1.milli), Task(Thread.sleep(1))) do
      val leaves = AtomicInteger()
      def nest(depth: Int): Task[Int] =
        if depth == 0 then leaf.andThen(Task(leaves.incrementAndGet()))
        else run(4, 1 to 8)(_ => nest(depth - 1)).as(0)
      nest(3).runSync(): Unit
      assertEquals(leaves.get, 512)

  test("each child runs once, whatever mix of ready, waiting and blocking children"):
    val random = scala.util.Random(7)
    for n <- List(1, 2, 7, 100) do
      val runs = Array.fill(2000)(AtomicInteger())
      val kinds = Array.fill(2000)(random.nextInt(5))
      run(n, runs.indices) { i =>
        val count = Task(runs(i).incrementAndGet())
        kinds(i) match
          case 0 => count
          case 1 => Task.cede.andThen(count)
          case 2 => count.flatTap(_ => Task.sleep(20.micros))
          case 3 => Task.cede.andThen(Task.cede).andThen(count).andThen(Task.cede).as(i)
          case _ => Task(Thread.`yield`()).andThen(count)
      }.runSync(): Unit
      assert(runs.forall(_.get == 1))
