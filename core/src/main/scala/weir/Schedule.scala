package weir

import java.util.SplittableRandom
import java.util.concurrent.ThreadLocalRandom
import java.util.random.RandomGenerator
import scala.concurrent.duration.FiniteDuration
import weir.task.*

/** When to run a task again that has ended with an `A`: how long to wait first, or whether to stop.
  *
  * `task.retry(schedule)` asks it after each failure, with the error; `task.repeat(schedule)` after
  * each success, with the value. It is a description: each run of the task begins it anew.
  */
abstract class Schedule[-A] private[weir] ():

  private[weir] def begin(start: ScheduleStart): ScheduleRun[A]

  // ---- when to stop ----

  /** As this one, at most `count` times: so the task runs at most once more than that. */
  final def times(count: Long): Schedule[A] = and(Schedule.recurs(count))

  /** As this one, as long as the next run would begin within `limit` of the beginning of the first.
    */
  final def upTo(limit: FiniteDuration): Schedule[A] =
    Schedule.of(start => UpToRun(begin(start), start.nanos, limit.toNanos))

  /** As this one, which begins anew after each run that took `time` or longer: what has worked for
    * so long has not failed again, but for the first time. So the waits are short again, and the
    * count of `times` is whole. For connections and streams that are to stay up.
    *
    * What comes after it goes on: in `s.resetAfter(1.minute).times(5)` the five are those of all.
    */
  final def resetAfter(time: FiniteDuration): Schedule[A] =
    require(
      time.toNanos >= 1,
      s"Schedule.resetAfter: the time was $time. It must be more than 0."
    )
    Schedule.of(start => ResetRun(this, start, time.toNanos))

  /** As this one, as long as `keep` is true of what the task ended with.
    *
    * The compiler knows the type of that from the task if this is the last change:
    * `task.repeat(schedule.whileInput(_ < 100))`. Before a further one it must be named:
    * `schedule.whileInput[Int](_ < 100).times(5)`. `task.repeatWhile(schedule)(_ < 100)` and
    * `task.retryWhen` need neither.
    */
  final def whileInput[B <: A](keep: B => Boolean): Schedule[B] =
    Schedule.of(start => WhileRun(begin(start), keep))

  // ---- how long to wait ----

  /** As this one, with no wait longer than `limit`. */
  final def capped(limit: FiniteDuration): Schedule[A] = mapDelay(_ min limit)

  /** As this one, with each wait drawn evenly from zero to what it was: so that tasks which have
    * failed together do not run again together.
    */
  final def fullJitter: Schedule[A] = jitter(0, 1)

  /** As this one, with each wait drawn evenly from the range around it: less by `proportion` to
    * more by `proportion`, which is 0 to 1.
    */
  final def jittered(proportion: Double): Schedule[A] =
    require(
      proportion >= 0 && proportion <= 1,
      s"Schedule.jittered: the proportion was $proportion. It must be at least 0 and at most 1."
    )
    jitter(1 - proportion, 1 + proportion)

  private def jitter(least: Double, most: Double): Schedule[A] =
    Schedule.of(start => JitterRun(begin(start), start.random, least, most))

  /** As this one, with its jitter drawn from `seed`: the same waits in each run, for tests. */
  final def seeded(seed: Long): Schedule[A] =
    Schedule.of(start => begin(ScheduleStart(start.nanos, SplittableRandom(seed))))

  /** As this one, with `f` of each wait. */
  final def mapDelay(f: FiniteDuration => FiniteDuration): Schedule[A] =
    modifyDelay[A]((_, delay) => f(delay))

  /** As this one, with each wait what `f` makes of what the task ended with and of the wait as it
    * was: for a server that says when to try again.
    */
  final def modifyDelay[B <: A](f: (B, FiniteDuration) => FiniteDuration): Schedule[B] =
    Schedule.of(start => MapRun[B](begin(start), f))

  // ---- two schedules ----

  /** Goes on while both do, with the longer of the two waits. */
  final def and[B <: A](that: Schedule[B]): Schedule[B] =
    Schedule.of(start => AndRun(begin(start), that.begin(start)))

  /** Goes on while one of the two does, with the shorter of the waits. */
  final def or[B <: A](that: Schedule[B]): Schedule[B] =
    Schedule.of(start => OrRun(begin(start), that.begin(start)))

  /** This one, and when it stops `that`. */
  final def andThen[B <: A](that: Schedule[B]): Schedule[B] =
    Schedule.of(start => AndThenRun(begin(start), that, start.random))

object Schedule:
  private def of[A](make: ScheduleStart => ScheduleRun[A]): Schedule[A] = new Schedule[A]:
    private[weir] def begin(start: ScheduleStart): ScheduleRun[A] = make(start)

  /** Again and again, without a wait. */
  val forever: Schedule[Any] = of(_ => (_, _) => 0)

  /** `count` times, without a wait. */
  def recurs(count: Long): Schedule[Any] =
    require(count >= 0, s"Schedule.recurs: the count was $count. It must be at least 0.")
    of(_ => RecursRun(count))

  /** For ever, `delay` after the end of each run. */
  def spaced(delay: FiniteDuration): Schedule[Any] =
    val nanos = positive("spaced", "delay", delay)
    of(_ => (_, _) => nanos)

  /** For ever, at a fixed rate: each `interval` from the beginning of the first run. After a run
    * that took longer the next one begins at once; runs that were missed are not made up for.
    */
  def fixed(interval: FiniteDuration): Schedule[Any] =
    val nanos = positive("fixed", "interval", interval)
    of(start => FixedRun(start.nanos, nanos))

  /** For ever, at first `base` after the end of a run, and each time `factor` times as long. */
  def exponential(base: FiniteDuration, factor: Double = 2): Schedule[Any] =
    val nanos = positive("exponential", "base", base)
    require(factor >= 1, s"Schedule.exponential: the factor was $factor. It must be at least 1.")
    of(_ => ExponentialRun(nanos.toDouble, factor))

  /** For ever, at first `one` after the end of a run, again `one`, then each time as long as the
    * two before together.
    */
  def fibonacci(one: FiniteDuration): Schedule[Any] =
    val nanos = positive("fibonacci", "first delay", one)
    of(_ => FibonacciRun(nanos))

  private def positive(name: String, what: String, duration: FiniteDuration): Long =
    require(
      duration.toNanos > 0,
      s"Schedule.$name: the $what was $duration. It must be longer than nothing; " +
        "for no wait, use Schedule.forever."
    )
    duration.toNanos

  /** The generator of whichever thread asks, since runs go from thread to thread. */
  private[weir] object Random extends RandomGenerator:
    def nextLong(): Long = ThreadLocalRandom.current().nextLong()
