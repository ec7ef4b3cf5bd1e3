package weir.bench.child.burst

/** Counts the process's threads from a platform thread of its own, which no carrier and no pool can
  * hold up, and which is part of the base line.
  */
private[burst] final class Watch private () extends AutoCloseable:
  // shared, guarded by this
  private var threads = 0
  @volatile private var isOver = false

  private val thread = Thread.ofPlatform().name("watch").daemon().start(() => look())

  /** The threads that were there before the system was used. */
  val baseLine: Int = OsThreads.count()

  /** Forgets what has been seen. */
  def restart(): Unit = synchronized:
    threads = OsThreads.count()

  /** The most threads at any moment since `restart`. */
  def peakThreads: Int = synchronized(threads)

  def close(): Unit =
    isOver = true
    thread.join()

  private def look(): Unit =
    while !isOver do
      val now = OsThreads.count()
      synchronized:
        threads = threads.max(now)
      Thread.sleep(Watch.pauseMillis)

private[burst] object Watch:
  /** Short against a burst, and long enough to cost little: 2 ms. */
  private val pauseMillis = 2L

  def start(): Watch = new Watch()
