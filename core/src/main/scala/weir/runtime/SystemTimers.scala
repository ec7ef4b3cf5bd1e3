package weir.runtime

import java.time.Instant
import java.util.concurrent.locks.LockSupport

/** A timer that uses the machine's clock: a heap of alarms for each shard, and one thread that
  * rings them.
  *
  *   - **Shards**: an alarm is in the heap of the shard that set it, so that carriers which set and
  *     remove alarms at the same time take different locks. README.md has the protocol, and the
  *     races that we fear.
  *   - **The thread** is a platform thread, so that alarms ring while every carrier is busy. It
  *     starts with an alarm. It ends when there has been none for `keepAliveNanos`, 5 s, counted
  *     from the time at which the last was due, even if that was removed. It is woken only for an
  *     alarm that is due before it looks at that shard next: most time limits are removed before
  *     they are due, and a wake-up for each would cost more than they do. If the thread cannot be
  *     started, `add` throws.
  *   - **Ringing** happens outside of the locks, and should neither block nor throw.
  *
  * The Linux kernel and Go's runtime (from 1.14 on) keep their timers in a heap for each processor,
  * too. This one differs in that one thread rings them all. Hashed and hierarchical wheels
  * (Varghese and Lauck, 1987) set an alarm in constant time, but ring by ticks. A heap with four
  * children for each node does so in a few steps, since most alarms are due after those that are
  * set already.
  */
private[weir] final class SystemTimers(
    begin: Thread => Unit = _.start(),
    keepAliveNanos: Long = Tuning.timerKeepAliveNanos,
    shardCount: Int = SystemTimers.shardsOfThisJvm
) extends Timers:
  require(
    shardCount >= 1 && (shardCount & (shardCount - 1)) == 0,
    s"SystemTimers: shardCount was $shardCount. It must be a power of two, and at least 1."
  )

  // immutable
  private val mask = math.min(shardCount, SystemTimers.mostShards) - 1
  private val shards = Array.fill(mask + 1)(AlarmShard())

  // shared
  /** Changed under this object's lock. Null only while each shard's `looksAt` is `Never`, or some
    * `add` is about to start a thread.
    */
  @volatile private var thread: Thread | Null = null

  /** Set by a thread that wants the timer's thread to look at the shards again; cleared by the
    * timer's thread before it looks. The permit of an unpark alone would not suffice: any wait for
    * a lock may take it.
    */
  private val isWoken = Flag()

  def nanoTime: Long = System.nanoTime()

  def realTime: Instant = Instant.now()

  def add(alarm: Alarm): Unit = add(alarm, Thread.currentThread().threadId().toInt)

  override def add(alarm: Alarm, preferredShard: Int): Unit =
    Counters.count(Counters.AlarmSet)
    val shard = preferredShard & mask
    alarm.shard = shard.toByte
    val isSooner = shards(shard).add(alarm)
    // after the alarm was added: pairs with the order of accesses in endIfUnused
    if thread eq null then startFor(alarm)
    else if isSooner then wake()

  def remove(alarm: Alarm): Boolean =
    Counters.count(Counters.AlarmRemoved)
    shards(alarm.shard.toInt).remove(alarm)

  def size: Int = shards.map(_.size).sum

  override def sleepers: Iterator[Job] =
    shards.iterator.flatMap(_.all).flatMap(alarm => Option(alarm.nn.sleeper))

  private def startFor(alarm: Alarm): Unit = synchronized {
    if thread eq null then
      try
        val created = Thread.ofPlatform().daemon().name("weir-timer").unstarted(() => ring())
        begin(created)
        thread = created
      catch
        case error: Throwable => // the system has no thread to spare
          if remove(alarm) then throw error
    else wake() // it has stayed, or has been started by another thread
  }

  /** Wakes the thread. If the flag is set already, the thread is about to clear it, and looks
    * afterwards.
    */
  private def wake(): Unit =
    if !isWoken.isSet then
      isWoken.set()
      Counters.count(Counters.TimerWoken)
      LockSupport.unpark(thread)

  // ---- the thread ----

  private def ring(): Unit =
    val due = new Array[Alarm | Null](Tuning.alarmsAtOnce)
    var alive = true
    while alive do
      // Whatever is thrown here, an OutOfMemoryError above all, the other alarms must ring.
      try alive = ringOnce(due)
      catch case _: Throwable => LockSupport.parkNanos(this, Tuning.lookNanos)

  /** Rings the alarms in `due`, then all that are due by now, then waits for the next. Returns
    * false once there has been no alarm for a while.
    */
  private def ringOnce(due: Array[Alarm | Null]): Boolean =
    ringAll(due) // those that an error has left
    isWoken.clear() // before the looks: pairs with the order of accesses in add and wake
    Counters.count(Counters.TimerLook)
    var shard = firstToLook()
    var now = nanoTime
    while shard.looksAt != AlarmShard.Never && shard.looksAt - now <= 0 do
      shard.takeDue(due, now): Unit
      ringAll(due)
      shard = firstToLook()
      now = nanoTime
    await(shard.looksAt, now)

  /** Returns the shard whose `looksAt` is first. */
  private def firstToLook(): AlarmShard =
    var first = shards(0)
    var i = 1
    while i <= mask do
      if AlarmShard.isBefore(shards(i).looksAt, first.looksAt) then first = shards(i)
      i += 1
    first

  /** Waits until `look`, or until it is woken. Returns false if the thread has to end. */
  private def await(look: Long, now: Long): Boolean =
    val isUnused = look == AlarmShard.Never
    val until = if isUnused then now + keepAliveNanos else look
    var left = until - now
    while left > 0 && !isWoken.isSet do
      LockSupport.parkNanos(this, left)
      Thread.interrupted(): Unit // or each park would return at once
      left = until - nanoTime
    isWoken.isSet || !isUnused || !endIfUnused()

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

  private def endIfUnused(): Boolean = synchronized {
    val self = thread
    thread = null // then it looks: a thread that adds an alarm reads `thread` afterwards
    val unused = shards.forall(_.looksAt == AlarmShard.Never)
    if !unused then thread = self
    unused
  }

private[weir] object SystemTimers:
  /** The largest number of shards, for which `Alarm.shard` has room. */
  private inline val mostShards = 128

  /** Returns the number of shards that a scheduler has on the carriers of this JVM. */
  private def shardsOfThisJvm: Int = Scheduler.shardsFor(Scheduler.carriersOfThisJvm)
