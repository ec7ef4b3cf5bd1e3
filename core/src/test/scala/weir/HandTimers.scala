package weir

import java.time.Instant
import scala.concurrent.duration.{DurationInt, FiniteDuration}
import weir.runtime.{Alarm, AlarmHeap, Scheduler, Timers}

/** A clock that a test moves by hand, the alarms that are set by it, and a runtime that goes by it.
  */
final class HandTimers(suite: WeirSuite) extends Timers:
  private val alarms = AlarmHeap()
  private var now = 1L

  given runtime: WeirRuntime = WeirRuntime(Scheduler(2, 4), this, null)

  def nanoTime: Long = synchronized(now)
  def realTime: Instant = Instant.ofEpochSecond(0, nanoTime)
  def add(alarm: Alarm): Unit = synchronized(alarms.add(alarm))
  def remove(alarm: Alarm): Boolean = synchronized(alarms.remove(alarm))
  def size: Int = synchronized(alarms.size)

  /** Returns once all fibers have ended or wait, for this clock too. */
  def still(): Unit = suite.eventually("all fibers wait")(runtime.scheduler.isQuiet)

  /** Lets `time` pass, and rings each alarm that is due by then at its own time. The fibers that
    * the alarms wake run at that time.
    */
  def pass(time: FiniteDuration): Unit =
    val until = nanoTime + time.toNanos
    var alarm = nextUntil(until)
    while alarm ne null do
      alarm.ring()
      still()
      alarm = nextUntil(until)
    synchronized { now = until }

  /** As `pass`, but sets the clock to the end of the time before it rings any alarm. */
  def passLate(time: FiniteDuration): Unit =
    synchronized { now += time.toNanos }
    pass(0.nanos)

  private def nextUntil(nanos: Long): Alarm | Null = synchronized {
    val first = alarms.first
    if (first eq null) || first.dueNanos - nanos > 0 then null
    else
      alarms.remove(first): Unit
      now = math.max(now, first.dueNanos)
      first
  }
