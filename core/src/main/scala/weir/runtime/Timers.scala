package weir.runtime

import java.time.Instant
import java.util.concurrent.locks.{LockSupport, ReentrantLock}

/** One shared timer: a heap of alarms and the thread that rings them.
  *
  *   - **Shared, under `lock`**: the heap; an alarm knows its place in it, so a cancelled one leaves at
  *     once, in O(log n), and is not kept alive until it is due.
  *   - **The thread** is a daemon of the operating system, so that alarms ring while every carrier is busy.
  *     It starts with an alarm, and ends when there has been none for a while.
  *   - **Ringing** happens outside the lock, and must neither block nor throw.
  *
  * A heap with four children for each node: half the depth of a binary one, and the children share a
  * cache line.
  */
private[weir] final class Timers:

  private val lock = ReentrantLock()

  /** The clock that alarms are set by, in nanoseconds from an arbitrary moment. */
  def nanoTime: Long = System.nanoTime()

  /** The time of day. */
  def realTime: Instant = Instant.now()

  // shared, under lock
  private var heap = new Array[Alarm | Null](64)
  private var count = 0
  private var thread: Thread | Null = null

  /** Sets the alarm; it rings once, at `alarm.dueNanos` or shortly after, unless it is removed first. */
  def add(alarm: Alarm): Unit =
    var wake = false
    lock.lock()
    try
      if count == heap.length then heap = java.util.Arrays.copyOf(heap, count * 2)
      count += 1
      up(count - 1, alarm)
      wake = alarm.place == 0
      if thread eq null then
        val created = Thread.ofPlatform().daemon().name("weir-timer").unstarted(() => ring())
        thread = created
        created.start()
    finally lock.unlock()
    if wake then LockSupport.unpark(thread)

  /** False if the alarm has rung, is about to, or was removed before. */
  def remove(alarm: Alarm): Boolean =
    lock.lock()
    try
      val place = alarm.place
      if place < 0 then false
      else
        takeOut(place)
        true
    finally lock.unlock()

  /** Alarms that are set. */
  def size: Int =
    lock.lock()
    try count
    finally lock.unlock()

  /** The fibers whose alarms are set. */
  def sleepers: Iterator[Job] =
    lock.lock()
    val alarms =
      try java.util.Arrays.copyOf(heap, count)
      finally lock.unlock()
    alarms.iterator.flatMap(alarm => Option(alarm.nn.sleeper))

  private def ring(): Unit =
    var alive = true
    while alive do
      lock.lock()
      var due: Alarm | Null = null
      var wait = Long.MaxValue
      try
        val first = heap(0)
        if (count > 0) && (first ne null) then
          wait = first.dueNanos - nanoTime
          if wait <= 0 then
            takeOut(0)
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
      val unused = count == 0
      if unused then thread = null // the next alarm starts another
      unused
    finally lock.unlock()

  private def takeOut(place: Int): Unit =
    heap(place).nn.place = -1
    count -= 1
    val last = heap(count).nn
    heap(count) = null
    if place < count then
      down(place, last)
      if last.place == place then up(place, last)

  private def up(from: Int, alarm: Alarm): Unit =
    var place = from
    var moving = place > 0
    while moving do
      val parentPlace = (place - 1) >> 2
      val parent = heap(parentPlace).nn
      if alarm.dueNanos - parent.dueNanos < 0 then
        put(place, parent)
        place = parentPlace
        moving = place > 0
      else moving = false
    put(place, alarm)

  private def down(from: Int, alarm: Alarm): Unit =
    var place = from
    var moving = true
    while moving do
      val firstChild = (place << 2) + 1
      val end = math.min(firstChild + 4, count)
      var smallest = firstChild
      var child = firstChild + 1
      while child < end do
        if heap(child).nn.dueNanos - heap(smallest).nn.dueNanos < 0 then smallest = child
        child += 1
      if firstChild < count && heap(smallest).nn.dueNanos - alarm.dueNanos < 0 then
        put(place, heap(smallest).nn)
        place = smallest
      else moving = false
    put(place, alarm)

  private def put(place: Int, alarm: Alarm): Unit =
    heap(place) = alarm
    alarm.place = place

/** What a timer rings, once, `delayNanos` after it was made. */
private[weir] abstract class Alarm(timers: Timers, delayNanos: Long):
  /** On the clock of `timers`; at most 146 years ahead, so that the difference of any two does not overflow. */
  final val dueNanos: Long = timers.nanoTime + math.min(delayNanos, Long.MaxValue / 2)

  /** Where it stands in the heap, under the timer's lock; -1 when it does not. */
  private[runtime] var place: Int = -1

  /** The fiber that sleeps until it rings, if that is what it is for. */
  def sleeper: Job | Null = null

  /** Called on the timer's thread. Must neither block nor throw. */
  def ring(): Unit
