package weir.testkit

import scala.collection.mutable
import scala.concurrent.duration.FiniteDuration

/** Decides whether the clock of a test may move, and moves it. Used by one thread at a time: the
  * one that drives the test.
  *
  * **The race that we fear**: a wake-up that is under way while everything looks asleep. Between
  * fibers, alarms and locks of `java.util.concurrent` there is no such wake-up: a thread that wakes
  * a virtual thread has queued it before it can itself stop being carried. There may be one if code
  * outside of the runtime wakes: a callback, or a thread of the user's. A wait that may be ended so
  * gets `patience` of real time, once, before the clock moves. A wait for a monitor gets it each
  * time that any thread has run, since that may have left the monitor. The JVM hands on monitors by
  * a thread of its own, which the conductor waits for: see `Monitors`. While a thread waits for a
  * socket or the like, the clock moves no faster than the real one.
  */
private[testkit] final class Conductor(
    carriers: Carriers,
    clock: VirtualClock,
    outside: Outside,
    callsElsewhere: () => Int,
    patience: FiniteDuration
):
  private val inIo = mutable.LinkedHashMap[Runnable, Thread]()
  private val foreign = mutable.LinkedHashMap[Runnable, Thread]()

  /** Waits for at most `nanos` until nothing can run, and returns the state of the test. */
  def settle(nanos: Long): Calm =
    val deadline = System.nanoTime() + nanos
    var calm: Calm | Null = null
    while calm eq null do
      val events = carriers.awaitIdle(deadline - System.nanoTime())
      if events < 0 then calm = Calm.Busy
      else
        val strangers = examine(carriers.takeMoved())
        if foreign.valuesIterator.exists(Rest.isForMonitor) then Monitors.awaitHandedOn()
        val callbacks = outside.hasNew()
        val changed =
          if strangers || callbacks then carriers.awaitEvent(events, patience.toNanos)
          else carriers.events != events
        if !changed then
          calm =
            if inIo.nonEmpty || callsElsewhere() > 0 then Calm.RealIo(events)
            else Calm.Quiet(events, mayBeWoken = foreign.nonEmpty || !outside.isEmpty)
    calm.nn

  /** Records what the threads that have run wait for. Returns true if some may be woken from
    * outside.
    */
  private def examine(moved: Iterable[Runnable]): Boolean =
    var strangers = false
    for continuation <- moved do
      inIo.remove(continuation): Unit
      foreign.remove(continuation): Unit
      val thread = VirtualThreads.threadOf(continuation)
      if thread ne null then
        Rest.of(thread) match
          case Rest.Known => ()
          case Rest.Io => inIo(continuation) = thread
          case Rest.Foreign =>
            foreign(continuation) = thread
            strangers = true
    strangers || moved.nonEmpty && foreign.valuesIterator.exists(Rest.isForMonitor)

  /** Returns the threads that wait for a socket or the like. */
  def ioThreads: List[Thread] = inIo.values.toList

  /** Moves the clock to the next alarm, if there is one up to `limitNanos`, and rings the alarms
    * that are due then.
    */
  def jump(limitNanos: Long): Boolean = clock.nextNanos match
    case Some(due) if due <= limitNanos =>
      carriers.holding(clock.moveTo(due))
      true
    case _ => false

  /** Moves the clock as the real one moves, until something can run or `nanos` are over. */
  def follow(events: Long, nanos: Long): Unit =
    val start = System.nanoTime()
    val untilDue = clock.nextNanos.fold(Long.MaxValue)(due => math.max(0, due - clock.nanoTime))
    // In small steps: the end of a call on a platform thread is no event.
    carriers.awaitEvent(events, math.min(math.min(nanos, untilDue), stepNanos)): Unit
    val elapsed = math.min(System.nanoTime() - start, untilDue)
    carriers.holding(clock.moveTo(clock.nanoTime + elapsed))

  private val stepNanos = 5_000_000L

  /** Returns true if something has been queued since, within `nanos`. */
  def awaitEvent(events: Long, nanos: Long): Boolean = carriers.awaitEvent(events, nanos)

private[testkit] enum Calm:
  /** Something runs, or could. */
  case Busy

  /** Nothing can run, and a thread waits for I/O, or runs a call of `Task.onPlatformThread`. */
  case RealIo(events: Long)

  /** Nothing can run before the clock moves, unless code outside of the runtime wakes it. */
  case Quiet(events: Long, mayBeWoken: Boolean)
