package weir.japi

import java.time.Duration
import java.util.function.UnaryOperator
import scala.concurrent.duration.{DurationLong, FiniteDuration}
import weir.Schedule as ScalaSchedule

/** Decides whether a task or a stream runs again, and how long to wait before it does. It is for
  * `Task.retry`, `Task.repeat` and `Stream.retry`.
  */
final class Schedule private (private[japi] val underlying: ScalaSchedule[Any]):

  /** As this one, but stops after `count` further runs. */
  def times(count: Long): Schedule = Schedule(underlying.times(count))

  /** As this one, but only as long as the next run would begin within `limit` of the beginning of
    * the first.
    */
  def upTo(limit: Duration): Schedule = Schedule(underlying.upTo(Durations.of(limit)))

  /** As this one, but starts anew after each run that took `time` or longer. */
  def resetAfter(time: Duration): Schedule = Schedule(underlying.resetAfter(Durations.of(time)))

  /** As this one, but with no wait longer than `limit`. */
  def capped(limit: Duration): Schedule = Schedule(underlying.capped(Durations.of(limit)))

  /** As this one, but with each wait drawn uniformly from zero up to its length. */
  def fullJitter(): Schedule = Schedule(underlying.fullJitter)

  /** As this one, but with each wait drawn uniformly from a range around its length: from
    * `proportion` less to `proportion` more. `proportion` is 0 to 1.
    */
  def jittered(proportion: Double): Schedule = Schedule(underlying.jittered(proportion))

  /** As this one, but changes each wait to the result of `f` for it. */
  def mapDelay(f: UnaryOperator[Duration]): Schedule =
    Schedule(underlying.mapDelay(delay => Durations.of(f(Duration.ofNanos(delay.toNanos)))))

  /** As this one, with metrics under `name` in `WeirRuntime.metrics`: the number of times that it
    * has repeated a task, and that it has stopped.
    */
  def named(name: String): Schedule = Schedule(underlying.named(name))

  /** Continues while both schedules do, with the longer of the two waits. */
  def and(that: Schedule): Schedule = Schedule(underlying.and(that.underlying))

  /** Continues while one of the two schedules does, with the shorter of the two waits. */
  def or(that: Schedule): Schedule = Schedule(underlying.or(that.underlying))

  /** Follows this schedule until it stops, then `that` one. */
  def andThen(that: Schedule): Schedule = Schedule(underlying.andThen(that.underlying))

object Schedule:
  private def apply(underlying: ScalaSchedule[Any]) = new Schedule(underlying)

  /** Repeats for ever, without a wait. */
  def forever(): Schedule = Schedule(ScalaSchedule.forever)

  /** Repeats `count` times, without a wait. */
  def recurs(count: Long): Schedule = Schedule(ScalaSchedule.recurs(count))

  /** Repeats for ever, `delay` after the end of each run. */
  def spaced(delay: Duration): Schedule = Schedule(ScalaSchedule.spaced(Durations.of(delay)))

  /** Repeats for ever, at each `interval` from the beginning of the first run. */
  def fixed(interval: Duration): Schedule = Schedule(ScalaSchedule.fixed(Durations.of(interval)))

  /** Repeats for ever, at first `base` after the end of a run. Each wait is twice as long as the
    * one before it.
    */
  def exponential(base: Duration): Schedule =
    Schedule(ScalaSchedule.exponential(Durations.of(base)))

  /** Repeats for ever. The first two waits after the end of a run are `one`. Each further wait is
    * as long as the two before it together.
    */
  def fibonacci(one: Duration): Schedule = Schedule(ScalaSchedule.fibonacci(Durations.of(one)))

/** Converts Java's durations to Scala's, which are at most 292 years long: a longer one becomes 292
  * years.
  */
private[japi] object Durations:
  private val longest = Duration.ofNanos(Long.MaxValue)

  def of(duration: Duration): FiniteDuration =
    if duration.compareTo(longest) > 0 then Long.MaxValue.nanos
    else if duration.compareTo(longest.negated) < 0 then -Long.MaxValue.nanos
    else duration.toNanos.nanos
