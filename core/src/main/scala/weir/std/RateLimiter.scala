package weir.std

import scala.concurrent.duration.FiniteDuration
import weir.fiber.{Awaited, Suspend, TaskFiber, WaitList}
import weir.metrics.{Metric, NamedMetrics}
import weir.runtime.DurationText
import weir.runtime.{Alarm, AlarmAfter, Timers}
import weir.{Task, WeirRuntime}

/** Limits the number of permits that are acquired in a given time. It is a bucket of permits that
  * fills up with time.
  *
  * Time is exact: the bucket counts units. A permit costs `permitUnits`, and `unitsPerNano` are
  * added in each nanosecond.
  *
  *   - **Shared, under this object's lock**: `budget`, as of `countedAtNanos`, and the line of
  *     fibers that wait.
  *   - **Invariant**: while a fiber waits, `alarm` is set for the time at which the first in line
  *     can go. An alarm that rings although it was replaced does nothing.
  *   - When the first in line is cancelled, the next may want fewer permits, so the line is served
  *     again.
  *   - **Late alarms**: while a fiber waits, the bucket may hold one permit more than `burst`.
  *     Otherwise, in a bucket of one permit, each delay of an alarm would be lost for good, and the
  *     rate would never be reached.
  */
final class RateLimiter private (permits: Int, per: FiniteDuration, burst: Int, timers: Timers)
    extends Awaited:

  // immutable
  private val divisor = RateLimiter.commonDivisor(permits.toLong, per.toNanos)
  private val unitsPerNano = permits / divisor
  private val permitUnits = per.toNanos / divisor
  private val full = permitUnits * burst

  // shared, under this object's lock
  private var budget = full
  private var countedAtNanos = timers.nanoTime
  private val waiting = WaitList()
  private var alarm: Alarm | Null = null

  /** Takes a permit.
    *
    * **Waits** until there is one. **Cancelled** while it waits: takes none, and the fibers behind
    * it move up. **Order**: permits go to the waiting fibers in the order in which they came.
    */
  val acquire: Task[Unit] = Acquire(permitUnits)

  /** As `acquire`, but takes `count` permits at once. **Fails** with an `IllegalArgumentException`
    * if `count` is not between 1 and `burst`.
    */
  def acquireN(count: Int): Task[Unit] = Task.defer {
    require(
      count >= 1 && count <= burst,
      s"RateLimiter.acquireN: the count was $count. It must be between 1 and the burst, $burst."
    )
    Acquire(count * permitUnits)
  }

  /** Takes a permit and returns true if there is one and no fiber waits. Returns false otherwise.
    */
  def tryAcquire: Task[Boolean] = Task.delay(synchronized(take(permitUnits)))

  /** Takes a permit as soon as there is one, then runs `task` and returns its value. **Waits**,
    * **Cancelled** and **Order** as `acquire`.
    */
  def limit[A](task: Task[A]): Task[A] = acquire.flatMap(_ => task)

  /** Names this limiter: `WeirRuntime.metrics` then reports its metrics under that name. Returns
    * this limiter.
    * {{{
    * val calls = RateLimiter(10, 1.second).map(_.named("calls"))
    * }}}
    */
  def named(name: String): this.type =
    NamedMetrics.register(this, name)((limiter, named) => limiter.figures(named))
    this

  private def figures(named: NamedMetrics): Vector[Metric] = Vector(
    named.gauge(
      "weir.rate_limiter.waiting",
      "{fiber}",
      "Fibers that wait for a permit.",
      waiting.size
    )
  )

  private final class Acquire(units: Long) extends Suspend[Unit]:
    def begin(fiber: TaskFiber): Any = RateLimiter.this.synchronized {
      if take(units) then ()
      else
        val entry = Entry(fiber, units)
        waiting.add(entry)
        if (waiting.peek eq entry) || (alarm eq null) then serve()
        entry
    }

  private final class Entry(fiber: TaskFiber, val units: Long)
      extends WaitList.Entry(fiber, waiting, RateLimiter.this):
    override def abandon(): Unit = RateLimiter.this.synchronized {
      val wasFirst = waiting.peek eq this
      waiting.remove(this)
      if wasFirst then serve()
    }

  private def take(units: Long): Boolean =
    waiting.isEmpty && {
      count()
      val enough = budget >= units
      if enough then budget -= units
      enough
    }

  /** Brings `budget` up to date. */
  private def count(): Unit =
    val now = timers.nanoTime
    val elapsed = now - countedAtNanos
    countedAtNanos = now
    val most = if waiting.isEmpty then full else full + permitUnits
    val missing = most - budget
    // Compared by division, since the product could overflow if the limiter has not been used for
    // long.
    if missing <= 0 || elapsed >= nanosFor(missing) then budget = most
    else budget += elapsed * unitsPerNano

  private def nanosFor(units: Long): Long = Math.ceilDiv(units, unitsPerNano)

  /** Gives permits to the fibers in line, as far as the budget goes, and sets the alarm for the
    * next.
    */
  private def serve(): Unit =
    count()
    var first = waiting.peek.asInstanceOf[Entry | Null]
    while (first ne null) && budget >= first.units do
      waiting.remove(first)
      if first.complete(()) then budget -= first.units
      first = waiting.peek.asInstanceOf[Entry | Null]
    val before = alarm
    alarm = null
    if before ne null then timers.remove(before): Unit
    if first ne null then
      try alarm = alarmIn(nanosFor(first.units - budget))
      catch case error: Throwable => failWaiting(error)

  /** Fails the fibers in line, which no alarm would wake. The next fiber that acquires sets an
    * alarm.
    */
  private def failWaiting(error: Throwable): Unit =
    var entry = waiting.poll()
    while entry ne null do
      entry.fail(error): Unit
      entry = waiting.poll()

  private def alarmIn(delayNanos: Long): Alarm =
    val next = new AlarmAfter(timers, delayNanos):
      def ring(): Unit = rung(this)
    timers.add(next)
    next

  private def rung(by: Alarm): Unit = synchronized {
    if alarm eq by then
      alarm = null
      serve()
  }

  private[weir] def awaitedAs: String =
    s"RateLimiter($permits, ${DurationText(per)}, $burst), for a permit"

object RateLimiter:
  /** Returns a new limiter, from which `permits` can be acquired in each time `per`, and after a
    * pause up to `burst` at once. With a burst of 1, permits are evenly spaced.
    *
    * In any time t, at most `burst` + 1 + t / `per` * `permits` are acquired. **Fails** with an
    * `IllegalArgumentException` if one of the three is not positive, or if `burst` permits take
    * more than 146 years.
    */
  def apply(permits: Int, per: FiniteDuration, burst: Int = 1): Task[RateLimiter] =
    Task.onRuntime(runtime => unsafe(permits, per, burst)(using runtime))

  /** As `apply`, but makes the limiter at once, for use outside of tasks, with the clock of
    * `runtime`.
    */
  def unsafe(permits: Int, per: FiniteDuration, burst: Int = 1)(using
      runtime: WeirRuntime
  ): RateLimiter =
    check("RateLimiter", permits, per, burst)
    new RateLimiter(permits, per, burst, runtime.timers)

  /** Checks the numbers of a limiter. **Fails** if it cannot have them, with a message that names
    * `operator`.
    */
  private[weir] def check(operator: String, permits: Int, per: FiniteDuration, burst: Int): Unit =
    require(
      permits >= 1 && per.toNanos >= 1 && burst >= 1,
      s"$operator: there were $permits permits per $per, with a burst of $burst. " +
        "All three must be positive."
    )
    // Two permits more than the burst, since that is compared: see `count`.
    val largest = BigInt(per.toNanos) * (BigInt(burst) + 2) / commonDivisor(permits, per.toNanos)
    require(
      largest < Long.MaxValue / 2,
      s"$operator: $permits permits per $per, with a burst of $burst, are too large to be " +
        "counted. Take a smaller burst, a shorter time, or numbers with a common divisor."
    )

  private def commonDivisor(a: Long, b: Long): Long = if b == 0 then a else commonDivisor(b, a % b)
