package weir.japi

import java.time.Duration
import java.util.function.UnaryOperator
import scala.concurrent.duration.{DurationLong, FiniteDuration}
import weir.Schedule as ScalaSchedule

/** When to run a task or a stream again: how long to wait first, or whether to stop. For
  * `Task.retry`, `Task.repeat` and `Stream.retry`.
  */
final class Schedule private (private[japi] val underlying: ScalaSchedule[Any]):

  /** As this one, at most `count` times. */
  def times(count: Long): Schedule = Schedule(underlying.times(count))

  /** As this one, as long as the next run would begin within `limit` of the beginning of the first.
    */
  def upTo(limit: Duration): Schedule = Schedule(underlying.upTo(Durations.of(limit)))

  /** As this one, which begins anew after each run that took `time` or longer. */
  def resetAfter(time: Duration): Schedule = Schedule(underlying.resetAfter(Durations.of(time)))

  /** As this one, with no wait longer than `limit`. */
  def capped(limit: Duration): Schedule = Schedule(underlying.capped(Durations.of(limit)))

  /** As this one, with each wait drawn evenly from zero to what it was. */
  def fullJitter(): Schedule = Schedule(underlying.fullJitter)

  /** As this one, with each wait less or more by at most `proportion`, which is 0 to 1. */
  def jittered(proportion: Double): Schedule = Schedule(underlying.jittered(proportion))

  /** As this one, with `f` of each wait. */
  def mapDelay(f: UnaryOperator[Duration]): Schedule =
    Schedule(underlying.mapDelay(delay => Durations.of(f(Duration.ofNanos(delay.toNanos)))))

  /** Goes on while both do, with the longer of the two waits. */
  def and(that: Schedule): Schedule = Schedule(underlying.and(that.underlying))

  /** Goes on while one of the two does, with the shorter of the waits. */
  def or(that: Schedule): Schedule = Schedule(underlying.or(that.underlying))

  /** This one, and when it stops `that`. */
  def andThen(that: Schedule): Schedule = Schedule(underlying.andThen(that.underlying))

object Schedule:
  private def apply(underlying: ScalaSchedule[Any]) = new Schedule(underlying)

  /** Again and again, without a wait. */
  def forever(): Schedule = Schedule(ScalaSchedule.forever)

  /** `count` times, without a wait. */
  def recurs(count: Long): Schedule = Schedule(ScalaSchedule.recurs(count))

  /** For ever, `delay` after the end of each run. */
  def spaced(delay: Duration): Schedule = Schedule(ScalaSchedule.spaced(Durations.of(delay)))

  /** For ever, each `interval` from the beginning of the first run. */
  def fixed(interval: Duration): Schedule = Schedule(ScalaSchedule.fixed(Durations.of(interval)))

  /** For ever, at first `base` after the end of a run, and each time twice as long. */
  def exponential(base: Duration): Schedule =
    Schedule(ScalaSchedule.exponential(Durations.of(base)))

  /** For ever, at first `one` after the end of a run, again `one`, then each time as long as the
    * two before together.
    */
  def fibonacci(one: Duration): Schedule = Schedule(ScalaSchedule.fibonacci(Durations.of(one)))

/** Java's durations as Scala's. */
private[japi] object Durations:
  def of(duration: Duration): FiniteDuration = duration.toNanos.nanos
