package weir.task

import java.time.{Duration, Instant}
import java.util.concurrent.atomic.LongAdder
import java.util.random.RandomGenerator
import scala.concurrent.duration.{DurationLong, FiniteDuration}
import weir.Schedule
import weir.metrics.{Metric, NamedMetrics}
import weir.runtime.Timers

/** A run of a schedule: it is asked again and again how long to wait, in nanoseconds, or to stop.
  * It belongs to one fiber.
  */
private[weir] trait ScheduleRun[-A]:
  /** Returns the wait after a run that has ended with `input`, or `Stop`; then it is not asked
    * again.
    */
  def next(input: A, nowNanos: Long): Long

private[weir] object ScheduleRun:
  /** The result in place of a wait when the schedule stops. */
  final val Stop = -1L

  /** The longest wait. It is short enough for a sum of two not to overflow. */
  final val longest = 1L << 61

/** The start of a schedule: the time on the timers' clock, the source of its jitter, and the time
  * of day.
  */
private[weir] final class ScheduleStart(
    val nanos: Long,
    val random: RandomGenerator,
    val realTime: () => Instant
):
  /** Returns the same start, but at `nanos`. */
  def at(nanos: Long): ScheduleStart = ScheduleStart(nanos, random, realTime)

private[weir] object ScheduleStart:
  /** Returns the start of a schedule now. */
  def now(timers: Timers): ScheduleStart =
    ScheduleStart(timers.nanoTime, Schedule.Random, () => timers.realTime)

// ---- sources ----

private[weir] final class RecursRun(count: Long) extends ScheduleRun[Any]:
  private var left = count
  def next(input: Any, nowNanos: Long): Long =
    if left == 0 then ScheduleRun.Stop
    else
      left -= 1
      0

/** Due at whole multiples of the interval. */
private[weir] final class FixedRun(startNanos: Long, interval: Long) extends ScheduleRun[Any]:
  private var due = startNanos
  def next(input: Any, nowNanos: Long): Long =
    due += interval
    if nowNanos - due > 0 then
      due = nowNanos - (nowNanos - startNanos) % interval // the latest missed
    math.max(0, due - nowNanos)

/** Due at moments of the time of day. A timer may ring before its moment by that clock, so a moment
  * that was waited for is not waited for again. It is if that clock is set back far, or if another
  * schedule has made the wait shorter.
  */
private[weir] final class AtRun(realTime: () => Instant, following: Instant => Option[Instant])
    extends ScheduleRun[Any]:
  private var latest = Instant.MIN
  private var dueNanos = 0L // that of `latest`, on the timers' clock

  def next(input: Any, nowNanos: Long): Long =
    val now = realTime()
    val early = latest.isAfter(now) && latest.isBefore(now.plusSeconds(AtRun.earliestSeconds))
    following(if early && nowNanos - dueNanos >= 0 then latest else now) match
      case None => ScheduleRun.Stop
      case Some(due) =>
        val wait = waitOf(Duration.between(now, due))
        latest = due
        dueNanos = nowNanos + wait
        wait

  private def waitOf(wait: Duration): Long =
    if wait.isNegative then 0
    else if wait.toDays > AtRun.longestDays then ScheduleRun.longest
    else wait.toNanos

private[weir] object AtRun:
  /** The clock was set if a timer rings earlier than this before its moment. Cron has the limit of
    * three hours too.
    */
  private inline val earliestSeconds = 3 * 3600

  /** More days than these are more nanoseconds than a `Long` holds without care. */
  private inline val longestDays = 20_000

private[weir] final class ExponentialRun(base: Double, factor: Double) extends ScheduleRun[Any]:
  private var delay = base
  def next(input: Any, nowNanos: Long): Long =
    val now = delay
    delay = math.min(delay * factor, ScheduleRun.longest.toDouble)
    now.toLong

private[weir] final class FibonacciRun(one: Long) extends ScheduleRun[Any]:
  private var delay = one
  private var following = one
  def next(input: Any, nowNanos: Long): Long =
    val now = delay
    delay = following
    following = math.min(now + following, ScheduleRun.longest)
    now

// ---- changes of another run ----

/** Changes each wait to the result of `f`; a negative result means no wait. */
private[weir] final class MapRun[A](
    source: ScheduleRun[A],
    f: (A, FiniteDuration) => FiniteDuration
) extends ScheduleRun[A]:
  def next(input: A, nowNanos: Long): Long =
    val delay = source.next(input, nowNanos)
    if delay < 0 then delay else math.max(0, f(input, delay.nanos).toNanos)

private[weir] final class JitterRun[A](
    source: ScheduleRun[A],
    random: RandomGenerator,
    least: Double,
    most: Double
) extends ScheduleRun[A]:
  def next(input: A, nowNanos: Long): Long =
    val delay = source.next(input, nowNanos)
    if delay < 0 then delay
    else (delay * (least + random.nextDouble() * (most - least))).toLong

private[weir] final class UpToRun[A](source: ScheduleRun[A], startNanos: Long, limit: Long)
    extends ScheduleRun[A]:
  def next(input: A, nowNanos: Long): Long =
    val delay = source.next(input, nowNanos)
    if delay < 0 || delay > limit - (nowNanos - startNanos) then ScheduleRun.Stop else delay

private[weir] final class ResetRun[A](source: Schedule[A], start: ScheduleStart, afterNanos: Long)
    extends ScheduleRun[A]:
  private var run = source.begin(start)
  private var runningSince = start.nanos
  def next(input: A, nowNanos: Long): Long =
    if nowNanos - runningSince >= afterNanos then run = source.begin(start.at(nowNanos))
    val delay = run.next(input, nowNanos)
    runningSince = nowNanos + delay
    delay

private[weir] final class WhileRun[A](source: ScheduleRun[A], keep: A => Boolean)
    extends ScheduleRun[A]:
  def next(input: A, nowNanos: Long): Long =
    if keep(input) then source.next(input, nowNanos) else ScheduleRun.Stop

private[weir] final class CountingRun[A](source: ScheduleRun[A], counts: ScheduleCounts)
    extends ScheduleRun[A]:
  def next(input: A, nowNanos: Long): Long =
    val delay = source.next(input, nowNanos)
    counts.decisions(if delay < 0 then "stop" else "again").increment()
    delay

/** The decisions of all runs of a schedule. */
private[weir] final class ScheduleCounts:
  val decisions: Map[String, LongAdder] = Map("again" -> LongAdder(), "stop" -> LongAdder())

  def figures(named: NamedMetrics): Vector[Metric] = Vector(
    named.by(
      Metric.Kind.Counter,
      "weir.schedule.decisions",
      "{decision}",
      "Runs after which the schedule had the task run again, or stopped.",
      "decision",
      decisions.toVector.map((decision, count) => decision -> count.sum.toDouble)*
    )
  )

// ---- two runs ----

private[weir] final class AndRun[A](left: ScheduleRun[A], right: ScheduleRun[A])
    extends ScheduleRun[A]:
  def next(input: A, nowNanos: Long): Long =
    val first = left.next(input, nowNanos)
    val second = if first < 0 then first else right.next(input, nowNanos)
    if second < 0 then ScheduleRun.Stop else math.max(first, second)

private[weir] final class OrRun[A](left: ScheduleRun[A], right: ScheduleRun[A])
    extends ScheduleRun[A]:
  private var leftGoes = true
  private var rightGoes = true
  def next(input: A, nowNanos: Long): Long =
    val first = if leftGoes then left.next(input, nowNanos) else ScheduleRun.Stop
    val second = if rightGoes then right.next(input, nowNanos) else ScheduleRun.Stop
    leftGoes = first >= 0
    rightGoes = second >= 0
    if leftGoes && rightGoes then math.min(first, second) else math.max(first, second)

private[weir] final class AndThenRun[A](
    first: ScheduleRun[A],
    second: Schedule[A],
    start: ScheduleStart
) extends ScheduleRun[A]:
  private var following: ScheduleRun[A] | Null = null
  def next(input: A, nowNanos: Long): Long =
    val delay = if following eq null then first.next(input, nowNanos) else ScheduleRun.Stop
    if delay >= 0 then delay
    else
      if following eq null then following = second.begin(start.at(nowNanos))
      following.nn.next(input, nowNanos)
