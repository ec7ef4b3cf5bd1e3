package weir

import java.time.Instant
import java.util.SplittableRandom
import java.util.concurrent.ThreadLocalRandom
import java.util.random.RandomGenerator
import scala.concurrent.duration.FiniteDuration
import weir.metrics.NamedMetrics
import weir.runtime.DurationText
import weir.task.*

/** Decides whether a task that has ended with an `A` runs again, and how long to wait before it
  * does.
  *
  * `task.retry(schedule)` asks it after each failure, with the error; `task.repeat(schedule)` after
  * each success, with the value. A schedule is a description: each run of the task starts it anew.
  */
abstract class Schedule[-A] private[weir] ():

  private[weir] def begin(start: ScheduleStart): ScheduleRun[A]

  // ---- when to stop ----

  /** As this one, but stops after `count` further runs: the task runs at most `count + 1` times. */
  final def times(count: Long): Schedule[A] = and(Schedule.recurs(count))

  /** As this one, but only as long as the next run would begin within `limit` of the beginning of
    * the first.
    */
  final def upTo(limit: FiniteDuration): Schedule[A] =
    Schedule.of(start => UpToRun(begin(start), start.nanos, limit.toNanos))

  /** As this one, but starts anew after each run that took `time` or longer. A failure after such a
    * run counts as a first one: the waits are short again, and the count of `times` starts again.
    * It is for connections and streams that are to stay up.
    *
    * Changes that are applied after it are not reset: in `s.resetAfter(1.minute).times(5)`, the
    * five are the total.
    */
  final def resetAfter(time: FiniteDuration): Schedule[A] =
    require(
      time.toNanos >= 1,
      s"Schedule.resetAfter: the time was ${DurationText(time)}. It must be more than 0."
    )
    Schedule.of(start => ResetRun(this, start, time.toNanos))

  /** As this one, but only as long as `keep` is true for the value or error that the task has ended
    * with.
    *
    * If this is the last change, the compiler infers its type from the task:
    * `task.repeat(schedule.whileInput(_ < 100))`. Before a further change, name the type:
    * `schedule.whileInput[Int](_ < 100).times(5)`. `task.repeatWhile(schedule)(_ < 100)` and
    * `task.retryWhen` need neither.
    */
  final def whileInput[B <: A](keep: B => Boolean): Schedule[B] =
    Schedule.of(start => WhileRun(begin(start), keep))

  // ---- how long to wait ----

  /** As this one, but with no wait longer than `limit`. */
  final def capped(limit: FiniteDuration): Schedule[A] = mapDelay(_ min limit)

  /** As this one, but with each wait drawn uniformly from zero up to its length. So tasks that have
    * failed together do not run again together.
    */
  final def fullJitter: Schedule[A] = jitter(0, 1)

  /** As this one, but with each wait drawn uniformly from a range around its length: from
    * `proportion` less to `proportion` more. `proportion` is 0 to 1.
    */
  final def jittered(proportion: Double): Schedule[A] =
    require(
      proportion >= 0 && proportion <= 1,
      s"Schedule.jittered: the proportion was $proportion. It must be at least 0 and at most 1."
    )
    jitter(1 - proportion, 1 + proportion)

  private def jitter(least: Double, most: Double): Schedule[A] =
    Schedule.of(start => JitterRun(begin(start), start.random, least, most))

  /** As this one, but draws its jitter from `seed`: the waits are the same in each run, for tests.
    */
  final def seeded(seed: Long): Schedule[A] =
    Schedule.of(start => begin(ScheduleStart(start.nanos, SplittableRandom(seed), start.realTime)))

  /** As this one, but changes each wait to the result of `f` for it. */
  final def mapDelay(f: FiniteDuration => FiniteDuration): Schedule[A] =
    modifyDelay[A]((_, delay) => f(delay))

  /** As this one, but changes each wait to the result of `f` for the value or error that the task
    * has ended with and the wait. It is for servers that set the time of the next attempt.
    */
  final def modifyDelay[B <: A](f: (B, FiniteDuration) => FiniteDuration): Schedule[B] =
    Schedule.of(start => MapRun[B](begin(start), f))

  /** As this one, with metrics under `name` in `WeirRuntime.metrics`, for as long as it is in use:
    * the number of times that it has repeated a task, and that it has stopped.
    * {{{
    * val patient = Schedule.exponential(1.second).times(5).named("payments")
    * }}}
    */
  final def named(name: String): Schedule[A] =
    val counts = ScheduleCounts()
    NamedMetrics.register(counts, name)(_.figures(_))
    Schedule.of(start => CountingRun(begin(start), counts))

  // ---- two schedules ----

  /** Continues while both schedules do, with the longer of the two waits. */
  final def and[B <: A](that: Schedule[B]): Schedule[B] =
    Schedule.of(start => AndRun(begin(start), that.begin(start)))

  /** Continues while one of the two schedules does, with the shorter of the two waits. */
  final def or[B <: A](that: Schedule[B]): Schedule[B] =
    Schedule.of(start => OrRun(begin(start), that.begin(start)))

  /** Follows this schedule until it stops, then `that` one. */
  final def andThen[B <: A](that: Schedule[B]): Schedule[B] =
    Schedule.of(start => AndThenRun(begin(start), that, start))

object Schedule:
  private def of[A](make: ScheduleStart => ScheduleRun[A]): Schedule[A] = new Schedule[A]:
    private[weir] def begin(start: ScheduleStart): ScheduleRun[A] = make(start)

  /** Repeats for ever, without a wait. */
  val forever: Schedule[Any] = of(_ => (_, _) => 0)

  /** Repeats `count` times, without a wait. */
  def recurs(count: Long): Schedule[Any] =
    require(count >= 0, s"Schedule.recurs: the count was $count. It must be at least 0.")
    of(_ => RecursRun(count))

  /** Repeats for ever, `delay` after the end of each run. */
  def spaced(delay: FiniteDuration): Schedule[Any] =
    val nanos = positive("spaced", "delay", delay)
    of(_ => (_, _) => nanos)

  /** Repeats for ever at a fixed rate: at each `interval` from the beginning of the first run.
    * After a run that took longer, the next one begins at once. Missed runs are skipped.
    */
  def fixed(interval: FiniteDuration): Schedule[Any] =
    val nanos = positive("fixed", "interval", interval)
    of(start => FixedRun(start.nanos, nanos))

  /** Repeats for ever, at first `base` after the end of a run. Each wait is `factor` times as long
    * as the one before it.
    */
  def exponential(base: FiniteDuration, factor: Double = 2): Schedule[Any] =
    val nanos = positive("exponential", "base", base)
    require(factor >= 1, s"Schedule.exponential: the factor was $factor. It must be at least 1.")
    of(_ => ExponentialRun(nanos.toDouble, factor))

  /** Repeats for ever. The first two waits after the end of a run are `one`. Each further wait is
    * as long as the two before it together.
    */
  def fibonacci(one: FiniteDuration): Schedule[Any] =
    val nanos = positive("fibonacci", "first delay", one)
    of(_ => FibonacciRun(nanos))

  /** Repeats at the times that `following` returns. It is called with the current time after each
    * run, and returns the time of the next run, or `None` to stop. Times that pass during a run are
    * skipped. A change of the system's clock does not change the length of a wait that has begun.
    * If the clock is set back by less than three hours, the times that occur again are skipped.
    *
    * `weir-cron` makes schedules of the five fields of cron.
    * {{{
    * val hour = java.time.temporal.ChronoUnit.HOURS
    * val eachHour = Schedule.at(now => Some(now.truncatedTo(hour).plusSeconds(3600)))
    * }}}
    */
  def at(following: Instant => Option[Instant]): Schedule[Any] =
    of(start => AtRun(start.realTime, following))

  private def positive(name: String, what: String, duration: FiniteDuration): Long =
    require(
      duration.toNanos > 0,
      s"Schedule.$name: the $what was ${DurationText(duration)}. It must be more than 0. " +
        "For no wait, use Schedule.forever."
    )
    duration.toNanos

  /** The generator of the thread that asks, since runs move from thread to thread. */
  private[weir] object Random extends RandomGenerator:
    def nextLong(): Long = ThreadLocalRandom.current().nextLong()
