package weir.testkit

import java.time.Instant
import weir.runtime.{Alarm, AlarmHeap, Timers}

/** A clock that stands still until it is moved. It begins at 0, which is 1 January 1970.
  *
  * '''Shared, under this object's lock''': the alarms. They ring outside of it, on the thread that moves the clock.
  */
private[testkit] final class VirtualClock extends Timers:
  private val alarms = AlarmHeap()
  @volatile private var now = 0L

  def nanoTime: Long = now

  def realTime: Instant = Instant.ofEpochSecond(0, now)

  def add(alarm: Alarm): Unit = synchronized { alarms.add(alarm): Unit }

  def remove(alarm: Alarm): Boolean = synchronized(alarms.remove(alarm))

  def size: Int = synchronized(alarms.size)

  /** When the next alarm is due, if one is set. */
  def nextNanos: Option[Long] = synchronized {
    alarms.first match
      case alarm: Alarm => Some(alarm.dueNanos)
      case null => None
  }

  /** Moves the clock on to `nanos`, and rings what is due then. */
  def moveTo(nanos: Long): Unit =
    if nanos > now then now = nanos
    var due = takeDue()
    while due ne null do
      due.ring()
      due = takeDue()

  private def takeDue(): Alarm | Null = synchronized {
    val first = alarms.first
    if (first ne null) && first.dueNanos <= now then
      alarms.remove(first): Unit
      first
    else null
  }
