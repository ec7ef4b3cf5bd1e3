package weir

import java.time.Instant
import java.util.SplittableRandom
import scala.compiletime.testing.typeCheckErrors
import scala.concurrent.duration.*
import weir.task.{ScheduleRun, ScheduleStart}

/** Schedules as plain sequences of waits, on a clock of the test's own. */
class ScheduleSuite extends munit.FunSuite:

  /** The waits of at most `count` further runs that each take `took`, in milliseconds. */
  private def waits(count: Int, took: FiniteDuration = 0.millis, seed: Long = 5)(
      schedule: Schedule[Any]
  ): List[Long] = waitsOf(List.fill(count)(()), took, seed)(schedule)

  private def start(nanos: Long, seed: Long) =
    ScheduleStart(nanos, SplittableRandom(seed), () => Instant.EPOCH)

  private def waitsOf[A](inputs: List[A], took: FiniteDuration = 0.millis, seed: Long = 5)(
      schedule: Schedule[A]
  ): List[Long] =
    // The clock overflows on the way.
    var now = Long.MaxValue - 12.millis.toNanos
    val run = schedule.begin(start(now, seed))
    inputs.iterator
      .map { input =>
        now += took.toNanos
        val delay = run.next(input, now)
        if delay >= 0 then now += delay
        delay
      }
      .takeWhile(_ != ScheduleRun.Stop)
      .map(_ / 1_000_000)
      .toList

  test("spaced waits the same after each run, however long that took"):
    assertEquals(waits(3, took = 7.millis)(Schedule.spaced(10.millis)), List(10L, 10L, 10L))

  test("fixed begins at multiples of the interval"):
    assertEquals(waits(3, took = 3.millis)(Schedule.fixed(10.millis)), List(7L, 7L, 7L))
    assertEquals(waits(2, took = 10.millis)(Schedule.fixed(10.millis)), List(0L, 0L))

  test(
    "fixed: after a run that took too long the next begins at once, and what was missed is left out"
  ):
    assertEquals(waits(4, took = 15.millis)(Schedule.fixed(10.millis)), List(0L, 0L, 0L, 0L))
    var now = Long.MaxValue - 12.millis.toNanos // it overflows in the first run
    val run = Schedule.fixed(10.millis).begin(start(now, 1))
    val waited = List(35, 1, 1, 10, 1).map { took =>
      now += took.millis.toNanos
      val delay = run.next((), now)
      now += delay
      delay / 1_000_000
    }
    assertEquals(waited, List(0L, 4L, 9L, 0L, 9L))

  test("exponential doubles, or grows by its factor, and never overflows"):
    assertEquals(waits(5)(Schedule.exponential(10.millis)), List(10L, 20L, 40L, 80L, 160L))
    assertEquals(waits(4)(Schedule.exponential(10.millis, 3)), List(10L, 30L, 90L, 270L))
    val run = Schedule.exponential(1.second).begin(start(0, 1))
    val many = List.fill(2000)(run.next((), 0))
    assert(many.zip(many.tail).forall(_ <= _) && many.last == ScheduleRun.longest)

  test("fibonacci adds the two before, and never overflows"):
    assertEquals(waits(7)(Schedule.fibonacci(10.millis)), List(10L, 10L, 20L, 30L, 50L, 80L, 130L))
    val run = Schedule.fibonacci(1.second).begin(start(0, 1))
    val many = List.fill(2000)(run.next((), 0))
    assert(many.zip(many.tail).forall(_ <= _) && many.last == ScheduleRun.longest)

  test("at waits until the moments of the time of day; what a run has missed is left out"):
    var time = Instant.ofEpochSecond(3)
    val tens = Schedule.at(now =>
      Option.when(now.getEpochSecond < 50)(
        Instant.ofEpochSecond((now.getEpochSecond / 10 + 1) * 10)
      )
    )
    val run = tens.begin(ScheduleStart(7, SplittableRandom(1), () => time))
    var nanos = 7L
    // The times at which a run ends: in the third the timer has rung too early, the fourth has
    // taken too long.
    val waits = List(3000L, 12_000L, 19_500L, 41_000L).map { millis =>
      time = Instant.ofEpochMilli(millis)
      nanos += 20.seconds.toNanos
      run.next((), nanos) / 1_000_000
    }
    assertEquals(waits, List(7000L, 8000L, 10_500L, 9000L))
    time = Instant.ofEpochSecond(50)
    assertEquals(run.next((), nanos + 20.seconds.toNanos), ScheduleRun.Stop)

  /** Returns the times at which `schedule` has a task run that takes no time. */
  private def minutesOfRuns(count: Int)(schedule: Schedule[Any]): List[Long] =
    var minute = 0L
    def now = Instant.ofEpochSecond(minute * 60)
    val run = schedule.begin(ScheduleStart(-7, SplittableRandom(1), () => now))
    List.fill(count) {
      minute += run.next((), minute.minutes.toNanos - 7).nanos.toMinutes
      minute
    }

  private val eachThreeHours =
    Schedule.at(now => Some(Instant.ofEpochSecond((now.getEpochSecond / 10_800 + 1) * 10_800)))

  test("at: a moment that was not waited for is not lost"):
    assertEquals(
      minutesOfRuns(6)(eachThreeHours.or(Schedule.spaced(80.minutes))),
      List(80L, 160L, 180L, 260L, 340L, 360L)
    )
    assertEquals(
      minutesOfRuns(6)(eachThreeHours.capped(80.minutes)),
      List(80L, 160L, 180L, 260L, 340L, 360L)
    )

  test("at: a clock that is set back by hours begins anew, by less does not"):
    for (back, wait) <- List(10 * 365 * 24 -> 179L, 4 -> 59L, 1 -> 239L) do
      val start = Instant.parse("2026-01-01T00:00:00Z")
      var time = start
      val run = eachThreeHours.begin(ScheduleStart(7, SplittableRandom(1), () => time))
      assertEquals(run.next((), 7), 3.hours.toNanos)
      time = start.plusSeconds(10_860 - back * 3600L)
      assertEquals(run.next((), 7 + 181.minutes.toNanos).nanos.toMinutes, wait, back)

  test("at: a moment that has passed is no wait, one in a thousand years is the longest"):
    for (at, wait) <- List(Instant.MIN -> 0L, Instant.MAX -> ScheduleRun.longest) do
      val run = Schedule.at(_ => Some(at)).begin(start(0, 1))
      assertEquals(run.next((), 0), wait)

  test("recurs and times stop after their count, forever does not"):
    for count <- List(0, 1, 2, 5) do
      assertEquals(waits(10)(Schedule.recurs(count)), List.fill(count)(0L))
      assertEquals(waits(10)(Schedule.spaced(3.millis).times(count)), List.fill(count)(3L))
    assertEquals(waits(1000)(Schedule.forever).size, 1000)

  test("resetAfter begins anew after a run that took so long, waits not counted"):
    val schedule = Schedule.exponential(10.millis).times(3).resetAfter(100.millis)
    assertEquals(waits(9, took = 99.millis)(schedule), List(10L, 20L, 40L))
    assertEquals(waits(9, took = 100.millis)(schedule), List.fill(9)(10L))
    var now = Long.MaxValue - 12.millis.toNanos // it overflows on the way
    val run = schedule.begin(start(now, 1))
    val waited = List(1, 1, 100, 1, 99, 250, 1, 1, 1).map { took =>
      now += took.millis.toNanos
      val delay = run.next((), now)
      now += delay
      delay / 1_000_000
    }
    assertEquals(waited, List(10L, 20L, 10L, 20L, 40L, 10L, 20L, 40L, 0L)) // the last: it stops
    intercept[IllegalArgumentException](schedule.resetAfter(Duration.Zero)): Unit

  test("capped bounds each wait"):
    assertEquals(
      waits(4)(Schedule.exponential(10.millis).capped(30.millis)),
      List(10L, 20L, 30L, 30L)
    )

  test("upTo stops where the next run would begin too late"):
    assertEquals(waits(9)(Schedule.spaced(10.millis).upTo(30.millis)), List(10L, 10L, 10L))
    assertEquals(
      waits(9, took = 5.millis)(Schedule.spaced(10.millis).upTo(30.millis)),
      List(10L, 10L)
    )
    assertEquals(waits(9, took = 40.millis)(Schedule.forever.upTo(30.millis)), Nil)

  test("full jitter draws from zero to the wait, jittered from around it, as evenly as that goes"):
    val full = waits(2000)(Schedule.spaced(1.second).fullJitter)
    assert(full.forall(ms => ms >= 0 && ms <= 1000))
    assert(full.min < 20 && full.max > 980 && (full.sum / 2000 - 500).abs < 40)
    val around = waits(2000)(Schedule.spaced(1.second).jittered(0.2))
    assert(around.forall(ms => ms >= 800 && ms <= 1200))
    assert(around.min < 810 && around.max > 1190 && (around.sum / 2000 - 1000).abs < 20)
    assertEquals(waits(3)(Schedule.spaced(1.second).jittered(0)), List(1000L, 1000L, 1000L))

  test("jitter differs from run to run, and not with a seed"):
    val schedule = Schedule.exponential(1.second).fullJitter.times(5)
    assertNotEquals(waits(5, seed = 1)(schedule), waits(5, seed = 2)(schedule))
    val seeded = schedule.seeded(7)
    assertEquals(waits(5, seed = 1)(seeded), waits(5, seed = 2)(seeded))
    assertNotEquals(waits(5)(seeded), waits(5)(schedule.seeded(8)))

  test("and goes on while both do, with the longer wait"):
    val both = Schedule.exponential(10.millis).and(Schedule.spaced(25.millis).times(4))
    assertEquals(waits(9)(both), List(25L, 25L, 40L, 80L))
    assertEquals(waits(9)(Schedule.recurs(2).and(Schedule.recurs(3))).size, 2)

  test("or goes on while one does, with the shorter wait of those that do"):
    val either = Schedule.exponential(10.millis).times(5).or(Schedule.spaced(25.millis).times(3))
    assertEquals(waits(9)(either), List(10L, 20L, 25L, 80L, 160L))
    assertEquals(waits(9)(Schedule.recurs(2).or(Schedule.recurs(3))).size, 3)

  test("andThen goes on with the second from where the first stops, the time too"):
    val one = Schedule.spaced(5.millis).times(2).andThen(Schedule.spaced(20.millis).upTo(45.millis))
    assertEquals(waits(9)(one), List(5L, 5L, 20L, 20L))
    val nested = Schedule.recurs(1).andThen(Schedule.recurs(0)).andThen(Schedule.recurs(2))
    assertEquals(waits(9)(nested).size, 3)

  test("whileInput stops at the first value for which it is false, and for good"):
    val small = Schedule.spaced(3.millis).whileInput[Int](_ < 3)
    assertEquals(waitsOf(List(1, 2, 3, 1))(small), List(3L, 3L))
    assertEquals(waitsOf(List(1, 5, 1))(small.or(Schedule.spaced(9.millis))), List(3L, 9L, 9L))

  test(
    "the type of what a task ends with is known to whileInput if it comes last, and to repeatWhile"
  ):
    assertEquals(
      typeCheckErrors("Task(1).repeat(Schedule.spaced(1.second).times(5).whileInput(_ < 100))"),
      Nil
    )
    assertEquals(
      typeCheckErrors("Task(1).repeatWhile(Schedule.spaced(1.second).times(5))(_ < 100)"),
      Nil
    )
    assertEquals(
      typeCheckErrors("Task(1).repeat(Schedule.forever.whileInput[Int](_ < 100).times(5))"),
      Nil
    )
    assertEquals(
      typeCheckErrors("Task(1).retryWhen(Schedule.forever.times(5))(_.getMessage.isEmpty)"),
      Nil
    )

  test("modifyDelay waits as the value says, and mapDelay changes each wait; none is negative"):
    val asked = Schedule
      .exponential(10.millis)
      .modifyDelay[Option[Int]]((after, wait) => after.fold(wait)(_.millis))
    assertEquals(waitsOf(List(None, Some(3), None, Some(-1)))(asked), List(10L, 3L, 40L, 0L))
    assertEquals(waits(2)(Schedule.spaced(5.millis).mapDelay(_ * 2)), List(10L, 10L))

  test("a schedule is a value: each use of it begins anew"):
    val schedule = Schedule.exponential(10.millis).times(2).andThen(Schedule.recurs(1))
    assertEquals(waits(9)(schedule), waits(9)(schedule))

  test("wrong arguments are refused with their values and the rule"):
    val wrong = List[(() => Any, String, String)](
      (() => Schedule.spaced(0.seconds), "was 0 ms", "more than 0"),
      (() => Schedule.fixed(-1.second), "was -1 s", "more than 0"),
      (() => Schedule.exponential(0.seconds), "was 0 ms", "more than 0"),
      (() => Schedule.exponential(1.second, 0.5), "was 0.5", "at least 1"),
      (() => Schedule.fibonacci(0.seconds), "was 0 ms", "more than 0"),
      (() => Schedule.recurs(-1), "was -1", "at least 0"),
      (() => Schedule.forever.jittered(1.5), "was 1.5", "at most 1")
    )
    for (make, value, rule) <- wrong do
      val message = intercept[IllegalArgumentException](make()).getMessage
      assert(message.contains(value) && message.contains(rule), message)
