package weir.runtime

import java.time.Instant
import java.util.concurrent.locks.{LockSupport, ReentrantLock}

/** One shared timer by the machine's clock: a heap of alarms and the thread that rings them.
  *
  *   - **Shared, under `lock`**: the heap, so that a cancelled alarm is not kept alive until it is due.
  *   - **The thread** is a daemon of the operating system, so that alarms ring while every carrier is busy.
  *     It starts with an alarm, and ends when there has been none for a while. Where it cannot be started, the alarm is refused.
  *   - **Ringing** happens outside the lock, and must neither block nor throw.
  */
private[weir] final class SystemTimers(begin: Thread => Unit = _.start()) extends Timers:

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
        try
          val created = Thread.ofPlatform().daemon().name("weir-timer").unstarted(() => ring())
          begin(created)
          thread = created
        catch
          case error: Throwable => // the system has no thread to spare
            alarms.remove(alarm): Unit
            throw error
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
    val due = new Array[Alarm | Null](Tuning.alarmsAtOnce)
    var alive = true
    while alive do
      var count = 0
      var wait = Long.MaxValue
      lock.lock()
      try
        val now = nanoTime
        while count < due.length && isDue(now) do
          due(count) = alarms.first
          alarms.remove(due(count).nn): Unit
          count += 1
        val first = alarms.first
        if first ne null then wait = first.dueNanos - now
      finally lock.unlock()
      for i <- 0 until count do
        try due(i).nn.ring()
        catch case error: Throwable => error.printStackTrace(System.err)
        due(i) = null
      if count == 0 then
        if wait == Long.MaxValue then
          LockSupport.parkNanos(this, Tuning.timerKeepAliveNanos)
          alive = !endIfUnused()
        else LockSupport.parkNanos(this, wait)

  private def isDue(now: Long): Boolean =
    val first = alarms.first
    (first ne null) && first.dueNanos - now <= 0

  private def endIfUnused(): Boolean =
    lock.lock()
    try
      val unused = alarms.size == 0
      if unused then thread = null // the next alarm starts another
      unused
    finally lock.unlock()
