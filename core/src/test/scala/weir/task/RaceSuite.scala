package weir
package task

import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger}
import scala.concurrent.duration.*
import weir.fiber.{Suspend, TaskFiber}
import weir.testkit.TestRuntime

class RaceSuite extends WeirSuite:

  private val blocked = Task(Thread.sleep(3_600_000))

  test("the value of the first to end, left or right, ready or later"):
    for ready <- List(Task.unit, Task.cede, Task.sleep(1.milli), Task(Thread.sleep(1))) do
      assertEquals(Task.race(ready.as(1), Task.never).runSync(), Left(1))
      assertEquals(Task.race(Task.never, ready.as(2)).runSync(), Right(2))
      assertEquals(Task.race(ready.as(1), Task.sleep(1.hour)).runSync(), Left(1))
      assertEquals(Task.race(Task.sleep(1.hour), ready.as(2)).runSync(), Right(2))
      assertEquals(Task.race(blocked, ready.as(2)).runSync(), Right(2))
      assertEquals(Task.race(ready.as(1), blocked).runSync(), Left(1))

  test("a failure that comes first is thrown, and the other is cancelled"):
    val boom = Boom()
    val fails = Task.cede.andThen(Task.fail(boom))
    for loser <- List(Task.never, blocked, Task.cede.forever) do
      assertEquals(Task.race(fails, loser).attempt.runSync(), Left(boom))
      assertEquals(Task.race(loser, fails).attempt.runSync(), Left(boom))

  test("a side that cancels itself leaves the race to the other, which may end later"):
    val later = Task.sleep(1.second).as(1)
    assertEquals(TestRuntime.run(Task.race(Task.canceled, later)), Right(1))
    assertEquals(TestRuntime.run(Task.race(later, Task.canceled)), Left(1))

  test("the loser's finalizers have run when race returns"):
    for loser <- List(Task.never, blocked, Task.cede.forever); left <- List(true, false) do
      val begun = CountDownLatch(1)
      val released = AtomicInteger()
      val slow = Task.sleep(2.millis).andThen(Task(released.incrementAndGet()).void)
      val losing = Task(begun.countDown()).andThen(loser).guarantee(slow)
      val winning = Task(begun.await()).as("won")
      val race = if left then Task.race(losing, winning) else Task.race(winning, losing)
      assertEquals(race.map(r => (r.merge, released.get)).runSync(), ("won", 1))

  for (name, race) <- List[(String, (Task[Unit], Task[Int]) => Task[Either[Unit, Int]])](
      "race" -> (Task.race(_, _)),
      "race, the other way round" -> ((a, b) => Task.race(b, a).map(_.swap)),
      "raceFirst" -> (Task.raceFirst(_, _)),
      "raceFirst, the other way round" -> ((a, b) => Task.raceFirst(b, a).map(_.swap))
    )
  do
    test(s"$name ends as the side that ended first, whatever that side is made of"):
      val later = Task.uncancelable(_ => Task.sleep(150.millis).as(7))
      val sleep = Task.sleep(50.millis)
      val losers = List(
        later,
        later.timeout(1.hour),
        Task.uninterruptible { Thread.sleep(150); 7 },
        Task {
          try Thread.sleep(150)
          catch case _: InterruptedException => (); 7
        }
      )
      for loser <- losers; first <- List(sleep, sleep.flatMap(Task.pure), sleep.map(identity)) do
        assertEquals(TestRuntime.run(race(first, loser)), Left(()))

  test("race waits for a loser that is masked, and the loser's failure does not replace the value"):
    val begun = CountDownLatch(1)
    val ended = AtomicBoolean()
    val asked = new Suspend[Boolean]:
      def begin(fiber: TaskFiber): Any = fiber.cancelRequested
    def untilAsked: Task[Unit] =
      asked.flatMap(isAsked => if isAsked then Task.unit else Task.cede.andThen(untilAsked))
    val masked = Task.uncancelable(_ =>
      Task(begun.countDown())
        .andThen(untilAsked)
        .andThen(Task(ended.set(true)))
        .andThen(Task.fail(Boom()))
    )
    val winner = Task(begun.await()).as(1)
    assertEquals(Task.race(winner, masked).map((_, ended.get)).runSync(), (Left(1), true))

  test("two children that end at once give one value, and each that began is released once"):
    for i <- 1 to 3000 do
      val begun, released = AtomicInteger()
      def side(n: Int) = Task.uncancelable(poll =>
        Task(begun.incrementAndGet())
          .andThen(poll(if i % 2 == 0 then Task.cede else Task.unit))
          .guarantee(Task(released.incrementAndGet()).void)
          .as(n)
      )
      val winner = Task.race(side(1), side(2)).runSync()
      assert(winner == Left(1) || winner == Right(2))
      assertEquals(released.get, begun.get)

  test("a cancel of the race cancels both and waits for their finalizers"):
    for _ <- 1 to 50 do
      val begun = CountDownLatch(2)
      val released = AtomicInteger()
      def side(wait: Task[Unit]) =
        Task(begun.countDown())
          .andThen(wait)
          .guarantee(Task.cede.andThen(Task(released.incrementAndGet()).void))
      val fiber = Task.race(side(Task.never), side(blocked)).start.runSync()
      await(begun)
      fiber.cancel.runSync()
      assertEquals(released.get, 2)
      assertEquals(fiber.join.runSync(), Outcome.Canceled)

  test("losers leave nothing behind: 20,000 alarms and joins are gone"):
    val other = Task.never.start.runSync()
    val rounds = Task.foreach(1 to 20_000)(i =>
      Task.race(Task.unit, if i % 2 == 0 then Task.sleep(1.hour) else other.join)
    )
    rounds.runSync()
    assertEquals(WeirRuntime.default.timers.size, 0)
    other.cancel.runSync()

  test("a race of a race of a race gives the fastest"):
    def nest(depth: Int): Task[Int] =
      if depth == 0 then Task.never
      else Task.race(nest(depth - 1), nest(depth - 1)).map(_.merge)
    val race = Task.race(nest(8), Task.sleep(5.hours).as(1))
    assertEquals(TestRuntime.timed(race), (5.hours, Right(1)))

  test(
    "of two sleepers the one that is due first wins, by however little, whether it blocks or not"
  ):
    for blocks <- List(true, false) do
      def sleep(nanos: Long) =
        if blocks then Task(Thread.sleep(java.time.Duration.ofNanos(nanos)))
        else Task.sleep(nanos.nanos)
      val race = Task.race(sleep(1_000_001), sleep(1_000_000))
      assertEquals(TestRuntime.timed(race), (1_000_000.nanos, Right(())))

class BothSuite extends WeirSuite:

  test("both run at the same time, waiting or blocking"):
    for _ <- 1 to 100 do
      val left, right = CountDownLatch(1)
      def side[A](mine: CountDownLatch, other: CountDownLatch, value: A) =
        Task(mine.countDown()).andThen(Task(other.await())).as(value)
      assertEquals(Task.both(side(left, right, 1), side(right, left, "b")).runSync(), (1, "b"))

  test("values of any kind keep their sides: null, unit, a list, a function"):
    assertEquals(Task.both(Task.pure(null), Task.unit).runSync(), (null, ()))
    assertEquals(Task.both(Task.pure(List(1)), Task.cede.as(Nil)).runSync(), (List(1), Nil))

  test("a failure of either side cancels the other, whose finalizers run before it is thrown"):
    val boom = Boom()
    for wait <- List(Task.never, Task(Thread.sleep(3_600_000))); left <- List(true, false) do
      val begun = CountDownLatch(1)
      val released = AtomicBoolean()
      val waits = Task(begun.countDown())
        .andThen(wait)
        .guarantee(Task.cede.andThen(Task(released.set(true))))
      val fails = Task(begun.await()).andThen(Task.fail(boom))
      val both: Task[Any] = if left then Task.both(fails, waits) else Task.both(waits, fails)
      assertEquals(both.attempt.map((_, released.get)).runSync(), (Left(boom), true))

  test("a cancel cancels both sides and waits for their finalizers"):
    val begun = CountDownLatch(2)
    val released = AtomicInteger()
    val side = Task(begun.countDown())
      .andThen(Task.never)
      .guarantee(Task.sleep(1.milli).andThen(Task(released.incrementAndGet()).void))
    val fiber = Task.both(side, side).start.runSync()
    await(begun)
    fiber.cancel.runSync()
    assertEquals(released.get, 2)
