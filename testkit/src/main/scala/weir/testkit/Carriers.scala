package weir.testkit

import java.util.concurrent.{ForkJoinPool, ScheduledFuture, TimeUnit}
import java.util.concurrent.TimeUnit.NANOSECONDS
import java.util.function.LongSupplier
import scala.collection.mutable

/** The platform threads that carry the virtual threads of a test, and so know whether any of those
  * can run.
  *
  * A virtual thread comes here, as a `Runnable`, whenever it is started or has been woken, and
  * stays away while it waits. So nothing can run if and only if none is queued and none is carried.
  * The end of its timed waits is an alarm of the test's clock.
  *
  *   - **Shared, under this object's lock**: everything that is mutable.
  *   - **Held**: nothing is begun while the conductor rings alarms, so that the order does not
  *     depend on how fast it rings.
  *   - `pick` chooses among so many that are queued.
  */
private[testkit] final class Carriers(count: Int, clock: VirtualClock, pick: Int => Int)
    extends ForkJoinPool(1),
      LongSupplier:
  private val queued = mutable.ArrayDeque[Runnable]()
  private var moved = mutable.LinkedHashSet[Runnable]()
  private var carried = 0

  /** Read without the lock by threads that are carried, which must not wait for it: see `SpinLock`.
    */
  @volatile private var hasMore = false
  private var queuedEver = 0L
  private var held = false
  private var closed = false

  for n <- 1 to count do
    Thread.ofPlatform().daemon().name(s"weir-test-carrier-$n").start(() => carry()): Unit

  // ---- called by virtual threads ----

  override def execute(continuation: Runnable): Unit = synchronized {
    queued.append(continuation)
    hasMore = true
    queuedEver += 1
    notifyAll()
  }

  override def schedule(command: Runnable, delay: Long, unit: TimeUnit): ScheduledFuture[?] =
    CommandAlarm.set(clock, unit.toNanos(delay), command)

  def getAsLong: Long = clock.nanoTime

  private def carry(): Unit =
    var next = take()
    while next ne null do
      try next.run()
      finally
        synchronized {
          carried -= 1
          notifyAll()
        }
      next = take()

  private def take(): Runnable | Null = synchronized {
    while (held || queued.isEmpty) && !closed do wait()
    if closed then null
    else
      carried += 1
      val next = queued.remove(pick(queued.size))
      hasMore = queued.nonEmpty
      moved.add(next): Unit
      next
  }

  // ---- called by the conductor ----

  /** Returns true if a virtual thread is queued, other than those that are carried. */
  def hasQueued: Boolean = hasMore

  /** Runs `body` while nothing is begun. */
  def holding(body: => Unit): Unit =
    synchronized { held = true }
    try body
    finally
      synchronized {
        held = false
        notifyAll()
      }

  /** Waits until nothing can run, and returns the number that had been queued by then. Returns a
    * negative number if that takes longer than `nanos`. The two are one number, so that it does not
    * count a thread that code outside queues a moment later.
    */
  def awaitIdle(nanos: Long): Long = synchronized(if await(nanos)(isIdle) then queuedEver else -1)

  private def isIdle = queued.isEmpty && carried == 0

  /** Returns the number that have been queued so far. */
  def events: Long = synchronized(queuedEver)

  /** Waits until something has been queued since there were so many `events`, and returns true.
    * Returns false if that takes longer than `nanos`.
    */
  def awaitEvent(events: Long, nanos: Long): Boolean = synchronized {
    await(nanos)(queuedEver != events)
  }

  private def await(nanos: Long)(condition: => Boolean): Boolean =
    val deadline = System.nanoTime() + nanos
    var left = nanos
    while !condition && left > 0 do
      NANOSECONDS.timedWait(this, left + 1_000_000) // it cuts off fractions of a millisecond
      left = deadline - System.nanoTime()
    condition

  /** Returns the virtual threads that have run since the last call. */
  def takeMoved(): Iterable[Runnable] = synchronized {
    val taken = moved
    moved = mutable.LinkedHashSet()
    taken
  }

  /** Ends the threads, once nothing can run. */
  def stop(): Unit = synchronized {
    closed = true
    notifyAll()
  }
