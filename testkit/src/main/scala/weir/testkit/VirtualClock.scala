package weir.testkit

import java.time.Instant
import scala.concurrent.duration.{DurationLong, FiniteDuration}
import weir.runtime.{Alarm, AlarmHeap, Timers}

/** A clock that stands still until it is moved. It begins at the year 1970.
  *
  * **Shared, under `lock`**: the alarms. They ring outside of it, on the thread that moves the
  * clock.
  */
private[weir] final class VirtualClock extends Timers:
  private val lock = SpinLock()
  private val alarms = AlarmHeap()

  /** The first time. It is not 0, because the JDK takes a time of 0 for one that is not set yet. */
  private val begin = 1_000_000_000L
  @volatile private var now = begin

  def nanoTime: Long = now

  /** Returns the time by which the clock has moved since its start. */
  def elapsedNanos: Long = now - begin

  def realTime: Instant = Instant.ofEpochSecond(0, elapsedNanos)

  def add(alarm: Alarm): Unit = lock { alarms.add(alarm) }

  def remove(alarm: Alarm): Boolean = lock(alarms.remove(alarm))

  def size: Int = lock(alarms.size)

  /** Returns the time at which the next alarm is due, if one is set. */
  def nextNanos: Option[Long] = lock {
    alarms.first match
      case alarm: Alarm => Some(alarm.dueNanos)
      case null => None
  }

  /** Returns the time until the next alarm, if one is set. */
  def untilNext: Option[FiniteDuration] = nextNanos.map(next => math.max(0, next - now).nanos)

  /** Moves the clock on to `nanos`, and rings the alarms that are due then. */
  def moveTo(nanos: Long): Unit =
    if nanos > now then now = nanos
    var due = takeDue()
    while due ne null do
      due.ring()
      due = takeDue()

  private def takeDue(): Alarm | Null = lock {
    val first = alarms.first
    if (first ne null) && first.dueNanos <= now then
      alarms.remove(first): Unit
      first
    else null
  }
