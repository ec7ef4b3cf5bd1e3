package weir.bench.child.burst

/** Watches the process from a platform thread of its own, which no carrier and no pool can hold up.
  *
  * Its own thread is part of the base line.
  */
private[burst] final class Watch private () extends AutoCloseable:
  // shared: written by the watching thread and by `restart`, one at a time
  private var threads = 0
  private var heapBytes = 0L
  @volatile private var isOver = false

  private val thread = Thread.ofPlatform().name("watch").daemon().start(() => look())

  /** The threads that were there before the system was used. */
  val baseLine: Int = OsThreads.count()

  /** Forgets what has been seen. */
  def restart(): Unit = synchronized:
    threads = OsThreads.count()
    heapBytes = heapUsed

  /** The most threads at any moment since `restart`. */
  def peakThreads: Int = synchronized(threads)

  /** The most heap in use at any moment since `restart`, garbage included. */
  def peakHeapBytes: Long = synchronized(heapBytes)

  def close(): Unit =
    isOver = true
    thread.join()

  private def look(): Unit =
    while !isOver do
      val (now, used) = (OsThreads.count(), heapUsed)
      synchronized:
        threads = threads.max(now)
        heapBytes = heapBytes.max(used)
      Thread.sleep(Watch.pauseMillis)

  private def heapUsed: Long =
    val jvm = Runtime.getRuntime
    jvm.totalMemory - jvm.freeMemory

private[burst] object Watch:
  /** Short against a burst, and long enough to cost little: 2 ms. */
  private val pauseMillis = 2L

  def start(): Watch = new Watch()
