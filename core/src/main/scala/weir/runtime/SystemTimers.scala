package weir.runtime

import java.time.Instant
import java.util.concurrent.locks.{LockSupport, ReentrantLock}

/** One shared timer by the machine's clock: a heap of alarms and the thread that rings them.
  *
  *   - **Shared, under `lock`**: the heap, so that a cancelled alarm is not kept alive until it is due.
  *   - **The thread** is a daemon of the operating system, so that alarms ring while every carrier is busy.
  *     It starts with an alarm, and ends when there has been none for a while.
  *   - **Ringing** happens outside the lock, and must neither block nor throw.
  */
private[weir] final class SystemTimers extends Timers:

  private val lock = ReentrantLock()

  // shared, under lock
  private val alarms = AlarmHeap()
  private var thread: Thread | Null = null

  def nanoTime: Long = System.nanoTime()

  def realTime: Instant = Instant.now()

  def add(alarm: Alarm): Unit =
    var wake = false
    lock.lock()
    try
      wake = alarms.add(alarm)
      if thread eq null then
        val created = Thread.ofPlatform().daemon().name("weir-timer").unstarted(() => ring())
        thread = created
        created.start()
    finally lock.unlock()
    if wake then LockSupport.unpark(thread)

  def remove(alarm: Alarm): Boolean =
    lock.lock()
    try alarms.remove(alarm)
    finally lock.unlock()

  def size: Int =
    lock.lock()
    try alarms.size
    finally lock.unlock()

  override def sleepers: Iterator[Job] =
    lock.lock()
    val set =
      try alarms.all
      finally lock.unlock()
    set.iterator.flatMap(alarm => Option(alarm.nn.sleeper))

  private def ring(): Unit =
    var alive = true
    while alive do
      lock.lock()
      var due: Alarm | Null = null
      var wait = Long.MaxValue
      try
        val first = alarms.first
        if first ne null then
          wait = first.dueNanos - nanoTime
          if wait <= 0 then
            alarms.remove(first): Unit
            due = first
      finally lock.unlock()
      if due ne null then
        try due.ring()
        catch case error: Throwable => error.printStackTrace(System.err)
      else if wait == Long.MaxValue then
        LockSupport.parkNanos(this, Tuning.timerKeepAliveNanos)
        alive = !endIfUnused()
      else LockSupport.parkNanos(this, wait)

  private def endIfUnused(): Boolean =
    lock.lock()
    try
      val unused = alarms.size == 0
      if unused then thread = null // the next alarm starts another
      unused
    finally lock.unlock()
