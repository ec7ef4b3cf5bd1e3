package weir

import scala.concurrent.duration.FiniteDuration
import weir.kernel.{RunLoop, Suspend}
import weir.runtime.{Alarm, AlarmAfter, Timers}
import weir.sync.{Awaited, WaitList}

/** A bucket of permits that fills up with time, so that no more than a given number are acquired in a given time.
  *
  * Time is exact: it is counted in units of which a permit costs `permitUnits`, and `unitsPerNano` come in each nanosecond.
  *
  *   - **Shared, under this object's lock**: `credit`, as of `countedAtNanos`, and who waits.
  *   - **Invariant**: while somebody waits, an alarm is set for when the first of them can go. `alarm` is that one; one that
  *     rings although it was replaced does nothing.
  *   - The one who waits first leaves by a cancel: the next may need fewer permits, so it is looked at again.
  *   - **Late alarms**: while somebody waits, one permit more than `burst` may gather, or every delay of a bucket for one
  *     would be lost for good, and the rate never reached.
  */
final class RateLimiter private (permits: Int, per: FiniteDuration, burst: Int, timers: Timers)
    extends Awaited:

  // immutable
  private val divisor = RateLimiter.commonDivisor(permits.toLong, per.toNanos)
  private val unitsPerNano = permits / divisor
  private val permitUnits = per.toNanos / divisor
  private val full = permitUnits * burst

  // shared, under this object's lock
  private var credit = full
  private var countedAtNanos = timers.nanoTime
  private val waiting = WaitList()
  private var alarm: Alarm | Null = null

  /** Nothing, once there is a permit, which it takes.
    *
    * '''Waits''' until there is one. '''Cancelled''' while it waits: takes none, and those behind move up. '''Order''':
    * permits go to those who wait in the order in which they came.
    */
  val acquire: Task[Unit] = Acquire(permitUnits)

  /** As `acquire`, for `count` permits at once. '''Fails''' with an `IllegalArgumentException` if `count` is not between 1
    * and `burst`.
    */
  def acquireN(count: Int): Task[Unit] = Task.defer {
    require(
      count >= 1 && count <= burst,
      s"RateLimiter.acquireN: the count was $count. It must be between 1 and the burst, $burst."
    )
    Acquire(count * permitUnits)
  }

  /** True if there is a permit now for which nobody waits, which it takes. */
  def tryAcquire: Task[Boolean] = Task.delay(synchronized(take(permitUnits)))

  /** What `task` returns, run once there is a permit, which it takes. '''Waits''', '''Cancelled''', '''Order''' as
    * `acquire`.
    */
  def limit[A](task: Task[A]): Task[A] = acquire.flatMap(_ => task)

  private final class Acquire(units: Long) extends Suspend[Unit]:
    def begin(fiber: RunLoop): Any = RateLimiter.this.synchronized {
      if take(units) then ()
      else
        val place = Place(fiber, units)
        waiting.add(place)
        try if (waiting.peek eq place) || (alarm eq null) then serve()
        catch
          case error: Throwable => // no alarm to be had: who fails must not stand in front of the others
            waiting.remove(place)
            throw error
        place
    }

  private final class Place(fiber: RunLoop, val units: Long)
      extends WaitList.Entry(fiber, waiting, RateLimiter.this):
    override def abandon(): Unit = RateLimiter.this.synchronized {
      val wasFirst = waiting.peek eq this
      waiting.remove(this)
      if wasFirst then serve()
    }

  private def take(units: Long): Boolean =
    waiting.isEmpty && {
      count()
      val enough = credit >= units
      if enough then credit -= units
      enough
    }

  /** Brings `credit` up to date. */
  private def count(): Unit =
    val now = timers.nanoTime
    val elapsed = now - countedAtNanos
    countedAtNanos = now
    val most = if waiting.isEmpty then full else full + permitUnits
    val missing = most - credit
    // Compared by division, since the product could overflow where the limiter was not used for long.
    if missing <= 0 || elapsed >= nanosFor(missing) then credit = most
    else credit += elapsed * unitsPerNano

  private def nanosFor(units: Long): Long = Math.ceilDiv(units, unitsPerNano)

  /** Gives permits to those who wait, as far as they go, and sets the alarm for the next. */
  private def serve(): Unit =
    count()
    var first = waiting.peek.asInstanceOf[Place | Null]
    while (first ne null) && credit >= first.units do
      waiting.remove(first)
      if first.complete(()) then credit -= first.units
      first = waiting.peek.asInstanceOf[Place | Null]
    val before = alarm
    alarm = null // what comes next may fail: then whoever comes next tries again
    if before ne null then timers.remove(before): Unit
    if first ne null then alarm = alarmIn(nanosFor(first.units - credit))

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

  def awaitedAs: String = s"RateLimiter($permits, $per, $burst), for a permit"

object RateLimiter:
  /** A new limiter on which `permits` can be acquired in each time `per`, and after a pause up to `burst` at once. With a
    * burst of 1 they come evenly spaced.
    *
    * In any time t, at most `burst` + 1 + t / `per` * `permits` are acquired. '''Fails''' with an
    * `IllegalArgumentException` if one of the three is not positive, or if `burst` permits take more than 146 years.
    */
  def apply(permits: Int, per: FiniteDuration, burst: Int = 1): Task[RateLimiter] =
    Task.onRuntime(runtime => unsafe(permits, per, burst)(using runtime))

  /** As `apply`, made at once, for use outside of tasks, by the clock of `runtime`. */
  def unsafe(permits: Int, per: FiniteDuration, burst: Int = 1)(using
      runtime: Runtime
  ): RateLimiter =
    require(
      permits >= 1 && per.toNanos >= 1 && burst >= 1,
      s"RateLimiter: there were $permits permits per $per, with a burst of $burst. All three must be positive."
    )
    // Two permits more than the burst, since that is what is compared: see `count`.
    val largest = BigInt(per.toNanos) * (BigInt(burst) + 2) / commonDivisor(permits, per.toNanos)
    require(
      largest < Long.MaxValue / 2,
      s"RateLimiter: with $permits permits per $per, a burst of $burst is too large to be counted. " +
        "Take a smaller burst, or numbers with a common divisor."
    )
    new RateLimiter(permits, per, burst, runtime.timers)

  private def commonDivisor(a: Long, b: Long): Long = if b == 0 then a else commonDivisor(b, a % b)
