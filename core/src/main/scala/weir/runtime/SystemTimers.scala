package weir.runtime

import java.time.Instant
import java.util.concurrent.locks.{LockSupport, ReentrantLock}

/** A timer that goes by the machine's clock: a heap of alarms, and one thread that rings them.
  *
  *   - **Shared, under `lock`**: the heap, so that a cancelled alarm is removed at once, and not
  *     kept alive until it is due; and `looksAt`, when the thread looks at the heap next, at the
  *     latest. It is woken for an alarm that is due before that, and for no other: most limits of
  *     time are removed before they are due, and a wake-up for each costs more than they do.
  *   - **The thread** is a platform thread, so that alarms ring while every carrier is busy. It
  *     starts with an alarm, and ends when there has been none for `keepAliveNanos`, 5 s, counted
  *     from when the last was due, also if that was removed. If it cannot be started, `add` throws.
  *   - **Ringing** happens outside of the lock, and should neither block nor throw.
  */
private[weir] final class SystemTimers(
    begin: Thread => Unit = _.start(),
    keepAliveNanos: Long = Tuning.timerKeepAliveNanos
) extends Timers:

  private val lock = ReentrantLock()

  // shared, under lock
  private val alarms = AlarmHeap()
  private var thread: Thread | Null = null
  private var looksAt = 0L

  def nanoTime: Long = System.nanoTime()

  def realTime: Instant = Instant.now()

  def add(alarm: Alarm): Unit =
    Counters.count(Counters.AlarmSet)
    val wake = locked:
      alarms.add(alarm)
      if thread eq null then
        try
          val created = Thread.ofPlatform().daemon().name("weir-timer").unstarted(() => ring())
          begin(created)
          thread = created
          looksAt = nanoTime
        catch
          case error: Throwable => // the system has no thread to spare
            alarms.remove(alarm): Unit
            throw error
      val isSooner = alarm.dueNanos - looksAt < 0
      if isSooner then looksAt = alarm.dueNanos
      isSooner
    if wake then
      Counters.count(Counters.TimerWoken)
      LockSupport.unpark(thread)

  def remove(alarm: Alarm): Boolean =
    Counters.count(Counters.AlarmRemoved)
    locked(alarms.remove(alarm))

  def size: Int = locked(alarms.size)

  override def sleepers: Iterator[Job] =
    locked(alarms.all).iterator.flatMap(alarm => Option(alarm.nn.sleeper))

  /** The lock is taken inside of the `try`: if the user's stack overflows in `lock`, the JDK still
    * takes the lock before it throws.
    */
  private inline def locked[A](inline body: A): A =
    try
      countHeld()
      lock.lock()
      body
    finally if lock.isHeldByCurrentThread then lock.unlock()

  private def countHeld(): Unit =
    if Counters.isOn && lock.isLocked then Counters.count(Counters.TimerLockHeld)

  private def ring(): Unit =
    val due = new Array[Alarm | Null](Tuning.alarmsAtOnce)
    var alive = true
    while alive do
      // Whatever is thrown here, an OutOfMemoryError above all, the other alarms must ring.
      try alive = ringOnce(due)
      catch case _: Throwable => LockSupport.parkNanos(this, Tuning.lookNanos)

  /** Rings the alarms in `due`, then moves those that are due by now from the heap to `due`, or
    * waits for the next. False once there has been no alarm for a while.
    */
  private def ringOnce(due: Array[Alarm | Null]): Boolean =
    Counters.count(Counters.TimerLook)
    ringAll(due)
    var mayEnd = false
    var look = 0L
    val count = locked:
      val now = nanoTime
      var count = 0
      while count < due.length && isDue(now) do
        due(count) = alarms.first
        alarms.remove(due(count).nn): Unit
        count += 1
      mayEnd = setLook(now, count > 0)
      look = looksAt
      count
    if count > 0 then true
    else
      LockSupport.parkNanos(this, look - nanoTime)
      !mayEnd || !endIfUnused()

  /** Sets `looksAt`. It stays where it was set for an alarm that has been removed: another such one
    * is likely to follow, and would wake the thread again. True if it is the end of the time for
    * which a thread is kept without alarms.
    *
    * A method of its own, since the caller parks: a local variable there would keep an alarm that
    * is removed meanwhile, and its fiber, until the next one is due.
    */
  private def setLook(now: Long, atOnce: Boolean): Boolean =
    val first = alarms.first
    val next =
      if atOnce then now
      else if first ne null then first.dueNanos
      else now + keepAliveNanos
    val changes = looksAt - now <= 0 || next - looksAt < 0
    if changes then looksAt = next
    changes && (first eq null) && !atOnce

  private def ringAll(due: Array[Alarm | Null]): Unit =
    var i = 0
    while i < due.length do
      val alarm = due(i)
      if alarm ne null then
        due(i) = null
        Counters.count(Counters.AlarmRung)
        try alarm.ring()
        catch
          case error: Throwable => error.printStackTrace(System.err) // may throw itself: see ring
      i += 1

  private def isDue(now: Long): Boolean =
    val first = alarms.first
    (first ne null) && first.dueNanos - now <= 0

  private def endIfUnused(): Boolean =
    locked:
      // An alarm that has been removed may have woken it before the time was over.
      val unused = alarms.size == 0 && looksAt - nanoTime <= 0
      if unused then thread = null // the next alarm starts another
      unused
