package weir.http.server

import java.nio.ByteBuffer
import java.util.concurrent.CopyOnWriteArrayList
import java.util.concurrent.atomic.AtomicReference
import java.util.concurrent.locks.LockSupport
import org.eclipse.jetty.util.thread.QueuedThreadPool
import org.eclipse.jetty.util.thread.strategy.AdaptiveExecutionStrategy
import scala.jdk.CollectionConverters.*

/** Jetty's threads. For each selector one of them, its reader, reads connections and begins the
  * tasks of requests. If code of a request keeps a reader, another thread takes over its selector.
  * The folder's README has the protocol.
  *
  *   - **Shared**: the list of threads; `isAwake`, which is written by both sides.
  */
private[server] class ReaderThreads(selectors: Int, others: Int, times: HandlerTimes)
    extends QueuedThreadPool(selectors + others, 4):
  import ReaderThreads.*

  private val threads = CopyOnWriteArrayList[ReaderThread]()

  private val watch: Thread =
    Thread.ofPlatform().name("weir-http-watch").daemon().unstarted(() => look())

  /** False while `watch` waits to be woken. */
  @volatile private var isAwake = true

  @volatile private var isOver = false

  setName("weir-http")
  setDaemon(true)
  setReservedThreads(0)

  override protected def doStart(): Unit =
    super.doStart()
    watch.start()

  override protected def doStop(): Unit =
    isOver = true
    LockSupport.unpark(watch)
    super.doStop()

  override def newThread(job: Runnable): Thread =
    val thread = ReaderThread(this, job)
    thread.setDaemon(true)
    thread.setName(s"weir-http-${thread.threadId}")
    thread.setContextClassLoader(getClass.getClassLoader) // as Jetty does
    thread

  /** Jetty asks for a thread that may go on reading while the calling one runs `reading`'s present
    * task. None is started, but the calling thread keeps `reading` for the thread that takes over.
    * Jetty asks for threads for other tasks too: it gets none.
    */
  override def tryExecute(reading: Runnable): Boolean = (ReaderThread.here, reading) match
    case (thread: ReaderThread, reading: AdaptiveExecutionStrategy) if !thread.isRunning =>
      thread.keep(reading)
      true
    case _ => false

  def began(thread: ReaderThread): Unit = threads.add(thread): Unit

  def ended(thread: ReaderThread): Unit = threads.remove(thread): Unit

  /** Called by a reader that begins to run code of a request. */
  def wakeWatch(): Unit =
    if !isAwake then
      isAwake = true
      LockSupport.unpark(watch)

  private def look(): Unit =
    var idleLooks = 0
    while !isOver do
      LockSupport.parkNanos(lookNanos)
      var isBusy = false
      threads.forEach { thread =>
        if thread.hasRun() then isBusy = true
        val reading = thread.takeIfStuck()
        if reading != null then
          if thread.isBlocked then times.distrust() else times.suspect()
          // There may be no memory for a thread: the next look tries again.
          try newThread(reading).start()
          catch case _: Throwable => thread.keepAgain(reading)
      }
      idleLooks = if isBusy then 0 else idleLooks + 1
      if idleLooks == idleLooksLimit then
        idleLooks = 0
        isAwake = false
        // A reader that has begun before it could see that is found here.
        while !isAwake && !isOver && !threads.asScala.exists(_.isRunning) do LockSupport.park()
        isAwake = true

private object ReaderThreads:
  private val lookNanos = 1_000_000L

  /** A reader that is not blocked is replaced after so many looks: it computes, or reads a socket,
    * or the system has run other threads.
    */
  val looksToCompute = 10

  /** The watch sleeps after so many looks that have found nothing. */
  private val idleLooksLimit = 20

/** A thread of Jetty's.
  *
  *   - **Shared**: `turn`, which only this thread writes; `reading`.
  *   - **Owner only**: `block`.
  *   - **The watch's only**: `seen`, `looks`.
  */
private[server] final class ReaderThread(pool: ReaderThreads, job: Runnable)
    extends Thread(null, job, "weir-http", 0, /* inheritThreadLocals = */ false):
  /** Odd while this thread runs code of a request as the reader of its selector. */
  @volatile private var turn = 0

  /** Goes on to read in place of this thread. */
  private val reading = AtomicReference[Runnable | Null]()

  private var seen = 0
  private var looks = 0

  /** The place of bytes between the buffers of a response and a call of the system. Made by this
    * thread, since the watch, which makes threads, must not wait for memory.
    */
  private lazy val block = ByteBuffer.allocateDirect(ReaderThread.blockBytes)

  /** Returns the bytes of `buffers`, which it leaves as they are. Returns null if they are too
    * many. The result is valid until the next call.
    */
  def gathered(buffers: Seq[ByteBuffer]): ByteBuffer | Null =
    block.clear()
    var index = 0
    while index < buffers.size && buffers(index).remaining <= block.remaining do
      val buffer = buffers(index)
      val from = buffer.position()
      block.put(buffer)
      buffer.position(from)
      index += 1
    if index < buffers.size then null else block.flip()

  override def run(): Unit =
    pool.began(this)
    try super.run()
    finally pool.ended(this)

  def keep(reading: Runnable): Unit = this.reading.set(reading)

  /** Returns true if another thread has taken over, or is about to. */
  def isReplaced: Boolean = reading.get == null

  /** Takes back what the watch has taken, unless there is a newer one. */
  def keepAgain(reading: Runnable): Unit = this.reading.compareAndSet(null, reading): Unit

  /** Runs `code`, which another thread will not wait for. */
  def run(code: () => Unit): Unit =
    turn += 1
    pool.wakeWatch()
    try code()
    finally turn += 1

  def isRunning: Boolean = (turn & 1) == 1

  /** Returns true if this thread has run code of a request since the look before. */
  def hasRun(): Boolean = turn != seen || isRunning

  /** Returns false while this thread computes, reads a socket, or waits for a processor. */
  def isBlocked: Boolean = getState != Thread.State.RUNNABLE

  /** Returns the work of the reader, if code of a request blocks this thread, or has kept it for
    * some looks.
    */
  def takeIfStuck(): Runnable | Null =
    val now = turn
    looks = if now == seen && isRunning then looks + 1 else 0
    seen = now
    val isStuck = looks >= ReaderThreads.looksToCompute || looks > 0 && isBlocked
    if isStuck then reading.getAndSet(null) else null

private[server] object ReaderThread:
  private val blockBytes = 4096

  /** Takes the first `count` bytes out of `buffers`. */
  def skip(buffers: Seq[ByteBuffer], count: Int): Unit =
    var left = count
    var index = 0
    while left > 0 do
      val buffer = buffers(index)
      val taken = left.min(buffer.remaining)
      buffer.position(buffer.position() + taken)
      left -= taken
      index += 1

  /** Returns the calling thread, if it is one of Jetty's. */
  def here: ReaderThread | Null = Thread.currentThread match
    case thread: ReaderThread => thread
    case _ => null
