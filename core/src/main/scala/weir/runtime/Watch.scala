package weir.runtime

import java.lang.invoke.{MethodHandles, VarHandle}
import java.util.concurrent.locks.LockSupport
import scala.annotation.static

/** A thread that samples the execution threads: it keeps a coarse clock, and finds spins.
  *
  * {{{
  * Gone --wake--> Fast --25 looks without progress--> Slow --no thread runs--> Asleep --5 s--> Gone
  *                 ^                                   |                         |
  *                 +------- wake, or progress ---------+-------- wake -----------+
  * }}}
  *
  *   - **Shared**: `mode`, changed by CAS; from `Gone` under the lock. An execution thread that
  *     begins to run makes that visible, then reads `mode` in `wake`. The watch writes `Slow` or
  *     `Asleep`, then looks which threads run. So at least one of the two sees the other. After
  *     `Gone` it does not look: a CAS that fails is tried again.
  *   - **No lock between the two**: a worker that had to wait for the watch would give up its turn,
  *     and with it the order that a seed of the test kit decides.
  *   - **Slow**: if all execution threads are blocked or have been reported, it looks once a
  *     second, and a thread that begins to run wakes it.
  *   - A calling thread of `runSync` is listed by an opaque write, which a look may miss: that only
  *     delays its report.
  *   - If the system has no thread to spare, fibers go on without a watch. A thread that begins to
  *     run tries again, at most once a second.
  */
private[weir] final class Watch(
    threads: () => Iterator[ExecutionThread],
    spins: Spins,
    begin: Thread => Unit = _.start(),
    queues: Seq[QueueAge] = Nil,
    threadShortage: ThreadShortage = ThreadShortage()
):
  // shared
  @volatile private var mode = Watch.Gone

  /** The time of the last look, in units of 2^24 ns (17 ms). Wraps around after two years. */
  @volatile private var coarse = Watch.now

  // shared, under this object's lock; read after a mode that its thread has written
  private var thread: Thread | Null = null

  // watch only
  private var idleLooks = 0
  private var lastLook = System.nanoTime()

  /** Returns the coarse time: see `Watch.nanosSince`. */
  def ticks: Int = coarse

  /** Returns the number of spins that have been found. */
  def spinsFound: Long = spins.found

  /** Returns true if all threads that run are blocked or reported, so that it looks once a second.
    * For tests.
    */
  def isSlow: Boolean = mode == Watch.Slow

  /** Returns true if it does not look at all until a thread begins to run. */
  def isAsleep: Boolean = mode == Watch.Asleep || mode == Watch.Gone

  /** Wakes the watch. Must be called on a thread that begins to run fibers, once `threads` includes
    * it.
    */
  def wake(): Unit = if mode != Watch.Fast then wakeUp()

  private def wakeUp(): Unit =
    Counters.count(Counters.WatchWoken)
    coarse = Watch.now // before the mode: a thread that reads Fast reads this too
    var seen = mode
    while (seen == Watch.Slow || seen == Watch.Asleep) && !change(seen, Watch.Fast) do seen = mode
    if seen == Watch.Gone then start()
    else if seen != Watch.Fast then LockSupport.unpark(thread)

  private def start(): Unit = synchronized {
    if mode == Watch.Gone && threadShortage.mayStart then
      try
        val created = Thread.ofPlatform().daemon().name("weir-watch").unstarted(() => watch())
        thread = created
        mode = Watch.Fast
        threadShortage.started() // not after `begin`: even if that throws, the thread may run
        begin(created)
      catch
        case _: Throwable => // the caller has a fiber to run
          mode = Watch.Gone
          threadShortage.failed()
  }

  private def watch(): Unit =
    var goesOn = true
    while goesOn do
      LockSupport.parkNanos(
        this,
        if mode == Watch.Fast then Tuning.lookNanos else Tuning.slowLookNanos
      )
      Thread.interrupted(): Unit // or each park would return at once
      try
        val now = System.nanoTime()
        val nanos = now - lastLook
        lastLook = now
        coarse = Watch.now
        look(nanos)
        goesOn = isNeeded
      catch case error: Throwable => print(error)

  /** Prints `error` if that is possible: it may be a lack of memory, or an error of the user's. */
  private def print(error: Throwable): Unit =
    try error.printStackTrace(System.err)
    catch case _: Throwable => ()

  private def look(nanos: Long): Unit =
    // Before it reads which threads run: the other half of wake.
    if idleLooks >= Tuning.idleLooks then change(Watch.Fast, Watch.Slow): Unit
    queues.foreach(_.look(lastLook))
    val busy = spins.look(threads(), nanos)
    idleLooks = if busy then 0 else idleLooks + 1
    if busy then change(Watch.Slow, Watch.Fast): Unit

  /** Returns false once no execution thread has run for a while: then the watch's thread ends. */
  private def isNeeded: Boolean =
    if mode != Watch.Fast && threads().isEmpty then
      change(Watch.Slow, Watch.Asleep): Unit
      if threads().nonEmpty then change(Watch.Asleep, Watch.Slow): Unit // the other half of wake
      else if mode == Watch.Asleep then LockSupport.parkNanos(this, Tuning.timerKeepAliveNanos)
      !change(Watch.Asleep, Watch.Gone)
    else true

  private def change(from: Int, to: Int): Boolean =
    mode == from && Watch.Mode.compareAndSet(this, from, to)

private[weir] object Watch:
  @static private val Mode: VarHandle =
    MethodHandles.lookup().findVarHandle(classOf[Watch], "mode", classOf[Int])

  private inline val Gone = 0
  private inline val Asleep = 1
  private inline val Slow = 2
  private inline val Fast = 3

  private inline val tickBits = 24

  def now: Int = (System.nanoTime() >>> tickBits).toInt

  /** Returns the nanoseconds since `ticks`, to within one tick; to within a second if the watch was
    * slow at `ticks`.
    */
  def nanosSince(ticks: Int): Long = (now - ticks).toLong.max(0) << tickBits
