package weir
package task

import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.AtomicInteger
import scala.concurrent.duration.*

class RetrySuite extends WeirSuite:

  /** Fails once with each of the errors, then returns the number of runs. */
  private final class Flaky(errors: Throwable*):
    val runs = AtomicInteger()
    val task: Task[Int] = Task.defer {
      val run = runs.incrementAndGet()
      if run <= errors.size then Task.cede.andThen(Task.fail(errors(run - 1))) else Task.pure(run)
    }

  test("the value of the first run that succeeds, and nothing is run after that"):
    for failures <- List(0, 1, 5) do
      val flaky = Flaky(List.fill(failures)(Boom())*)
      assertEquals(flaky.task.retry(Schedule.recurs(5)).runSync(), failures + 1)
      assertEquals(flaky.runs.get, failures + 1)

  test("when the schedule stops, the last error is thrown with the earlier ones under it"):
    val errors = List.tabulate(4)(i => Boom(s"$i"))
    val flaky = Flaky(errors*)
    assertEquals(flaky.task.retry(Schedule.recurs(3)).attempt.runSync(), Left(errors.last))
    assertEquals((flaky.runs.get, errors.last.getSuppressed.toList), (4, errors.init))
    val alone = Boom()
    assertEquals(Task.fail(alone).retry(Schedule.recurs(0)).attempt.runSync(), Left(alone))
    assertEquals(alone.getSuppressed.toList, Nil)

  test(
    "of many errors the first and the latest are kept, eight in all; one that comes again, once"
  ):
    val errors = List.tabulate(100)(i => Boom(s"$i"))
    assertEquals(
      Flaky(errors*).task.retry(Schedule.recurs(99)).attempt.runSync(),
      Left(errors.last)
    )
    assertEquals(errors.last.getSuppressed.toList, errors.head :: errors.slice(92, 99))
    val same = Boom()
    assertEquals(Task.fail(same).retry(Schedule.recurs(50)).attempt.runSync(), Left(same))
    assertEquals(same.getSuppressed.toList, Nil)

  test("retryWhen throws an error that is not to be retried at once, the retried ones under it"):
    val retried = Boom("again")
    val last = IllegalStateException("no")
    val flaky = Flaky(retried, last, Boom())
    val task = flaky.task.retryWhen(Schedule.forever)(_.isInstanceOf[Boom])
    assertEquals(task.attempt.runSync(), Left(last))
    assertEquals((flaky.runs.get, last.getSuppressed.toList), (2, List(retried)))

  test("a schedule that throws fails the task, with the error that it was asked about under it"):
    val boom = Boom()
    val broken = IllegalStateException("the schedule's")
    val task = Task.fail(boom).retry(Schedule.forever.whileInput(_ => throw broken))
    assertEquals(task.attempt.runSync(), Left(broken))
    assertEquals(broken.getSuppressed.toList, List(boom))

  test("it waits between the runs, and not before the first or after the last"):
    val flaky = Flaky(Boom(), Boom())
    val (value, took) = timed(flaky.task.retry(Schedule.spaced(20.millis).times(2)).runSync())
    assertEquals(value, 3)
    assert(took >= 40.millis, s"$took")
    val (_, atOnce) = timed(Task.pure(1).retry(Schedule.spaced(1.hour)).runSync())
    assert(atOnce < 5.seconds)
    val gone = Task.fail(Boom()).retry(Schedule.spaced(1.hour).times(0))
    assert(timed(gone.attempt.runSync())._2 < 5.seconds)

  test("a cancel ends the wait, a blocked run, and an endless retry"):
    val begun = CountDownLatch(3)
    val fails = Task(begun.countDown()).andThen(Task.fail(Boom()))
    val blocks = Task(begun.countDown()).andThen(Task(Thread.sleep(3_600_000)))
    val tasks = List(
      fails.retry(Schedule.spaced(1.hour)),
      blocks.retry(Schedule.forever),
      fails.retry(Schedule.forever)
    )
    val fibers = tasks.map(_.start.runSync())
    await(begun)
    fibers.foreach(_.cancel.runSync())
    assertEquals(fibers.map(_.join.runSync()), List.fill(3)(Outcome.Canceled))

  test("each use of the task begins the schedule anew"):
    val runs = AtomicInteger()
    val task = Task(runs.incrementAndGet()).andThen(Task.fail(Boom())).retry(Schedule.recurs(2))
    for _ <- 1 to 3 do
      task.attempt.runSync(): Unit
      assertEquals(runs.getAndSet(0), 3)
    Task.parTraverse(1 to 10)(_ => task.attempt).runSync(): Unit
    assertEquals(runs.get, 30)

class RepeatSuite extends WeirSuite:

  override def limit: FiniteDuration = 60.seconds // two million runs, on whatever machine

  test("the value of the last run, as many more runs as the schedule says"):
    for count <- List(0, 1, 5) do
      val runs = AtomicInteger()
      assertEquals(Task(runs.incrementAndGet()).repeat(Schedule.recurs(count)).runSync(), count + 1)
      val later = Task.cede.andThen(Task(runs.incrementAndGet()))
      assertEquals(later.repeat(Schedule.recurs(count)).runSync(), 2 * count + 2)

  test("a failure ends it at once"):
    val boom = Boom()
    val runs = AtomicInteger()
    val task =
      Task(runs.incrementAndGet()).flatMap(i => if i == 3 then Task.fail(boom) else Task.unit)
    assertEquals(task.repeat(Schedule.forever).attempt.runSync(), Left(boom))
    assertEquals(runs.get, 3)

  test("it goes on while the value is such, and keeps null and unit apart from the end"):
    val runs = AtomicInteger()
    val task = Task(runs.incrementAndGet())
    assertEquals(task.repeat(Schedule.forever.whileInput(_ < 7)).runSync(), 7)
    assertEquals(task.repeatWhile(Schedule.forever)(_ < 9).runSync(), 9)
    assertEquals(task.repeatWhile(Schedule.forever.times(2))(_ < 99).runSync(), 12)
    assertEquals(Task.pure(null).repeat(Schedule.recurs(2)).runSync(), null)
    assertEquals(Task.unit.repeat(Schedule.recurs(2)).runSync(), ())

  test("it waits between the runs, and not after the last"):
    val (_, took) = timed(Task.unit.repeat(Schedule.spaced(20.millis).times(2)).runSync())
    assert(took >= 40.millis, s"$took")
    assert(timed(Task.unit.repeat(Schedule.spaced(1.hour).times(0)).runSync())._2 < 5.seconds)

  test("a cancel ends the wait, and an endless repeat, and runs the finalizers of the run"):
    val begun = CountDownLatch(2)
    val released = AtomicInteger()
    val waits = Task(begun.countDown()).repeat(Schedule.spaced(1.hour)).start.runSync()
    val runs = Task(begun.countDown())
      .andThen(Task.cede.forever)
      .guarantee(Task(released.incrementAndGet()).void)
      .repeat(Schedule.forever)
      .start
      .runSync()
    await(begun)
    waits.cancel.runSync()
    runs.cancel.runSync()
    assertEquals((waits.join.runSync(), released.get), (Outcome.Canceled, 1))

  test("very many runs, and very many retries, cost the heap of one"):
    for schedule <- List[Schedule[Any]](
        Schedule.forever,
        Schedule.fixed(1.nano).or(Schedule.forever)
      )
    do
      val heap = AtomicInteger()
      val many = Tier(75_000, 1_000_000)
      val left = AtomicInteger(many)
      val limit = Tier(1024, 2048)
      def used(): Int = (Heap.used() >> 10).toInt
      val step = Task.defer {
        val now = left.decrementAndGet()
        if now == many - 1000 then heap.set(used())
        if now == 0 then heap.set(used() - heap.get)
        if now > 0 then Task.fail(Boom()) else Task.unit
      }
      step.retry(schedule).runSync()
      assert(heap.get < limit, s"${heap.get} KB more after $many retries")
      left.set(many)
      step.attempt.as(0).map(_ => left.get).repeat(schedule.whileInput[Int](_ > 0)).runSync(): Unit
      assert(heap.get < limit, s"${heap.get} KB more after $many runs")
