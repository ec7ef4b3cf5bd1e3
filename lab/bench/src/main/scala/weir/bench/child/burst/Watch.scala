package weir.bench.child.burst

import java.util.concurrent.locks.LockSupport

/** Counts the process's threads from a platform thread of its own, which no carrier and no pool can
  * delay, and which is part of the base line. It does not run while medians are measured: its work
  * every 2 ms cost some systems a tenth of their time, and others nothing.
  */
private[burst] final class Watch private () extends AutoCloseable:
  // shared, guarded by this
  private var threads = 0
  @volatile private var isLooking = false
  @volatile private var isOver = false

  private val thread = Thread.ofPlatform().name("watch").daemon().start(() => look())

  /** The threads that were there before the system was used. */
  val baseLine: Int = OsThreads.count()

  /** Runs `body`, and watches meanwhile. It first forgets earlier observations. */
  def during[A](body: => A): A =
    synchronized:
      threads = OsThreads.count()
    isLooking = true
    LockSupport.unpark(thread)
    try body
    finally isLooking = false

  /** Returns the most threads at any moment of the latest `during`. */
  def peakThreads: Int = synchronized(threads)

  def close(): Unit =
    isOver = true
    LockSupport.unpark(thread)
    thread.join()

  private def look(): Unit =
    while !isOver do
      if isLooking then
        val now = OsThreads.count()
        synchronized:
          threads = threads.max(now)
        Thread.sleep(Watch.pauseMillis)
      else LockSupport.park()

private[burst] object Watch:
  /** Short against a burst: 2 ms. */
  private val pauseMillis = 2L

  def start(): Watch = new Watch()
