package weir.trace

import java.util.concurrent.locks.LockSupport
import weir.runtime.{Host, Refusals, Tuning}

/** The one thread that looks at the runtime from outside: it keeps a coarse clock, and finds what spins.
  *
  * {{{
  * Gone --somebody begins to run--> Fast <--somebody gets on--> Slow       Fast, Slow --nobody runs--> Asleep --5 s--> Gone
  *                                   ^                                                              |
  *                                   +------------------- somebody begins to run -------------------+
  * }}}
  *
  *   - **Shared**: `mode`, written under the lock. Whoever begins to run makes that visible, then reads `mode`; the watch
  *     writes `Slow` or `Asleep`, then looks who runs. So one of the two sees the other.
  *   - **Slow**: where all that run are blocked or have been reported, it looks once a second, and whoever begins to run
  *     wakes it.
  *   - A caller of `runSync` is seen by a plain look; missing one delays its report, and nothing else.
  *   - Where the system has no thread to spare, fibers go on without a watch; who begins to run asks again, once a second.
  */
private[weir] final class Watch(
    hosts: () => Iterator[Host],
    spins: Spins,
    begin: Thread => Unit = _.start()
):
  // shared
  @volatile private var mode = Watch.Gone

  /** The time of the last look, in units of 2^24 ns, which is 17 ms; wraps around after two years. */
  @volatile private var coarse = Watch.now

  // shared, under this object's lock
  private var thread: Thread | Null = null

  private val refusals = Refusals()

  // watch only
  private var idleLooks = 0
  private var lastLook = System.nanoTime()

  /** The coarse time: see `Watch.nanosSince`. */
  def ticks: Int = coarse

  /** True where it looks no more until somebody runs. */
  def isAsleep: Boolean = mode == Watch.Asleep || mode == Watch.Gone

  /** To be called by whoever begins to run fibers, once `hosts` has it. */
  def wake(): Unit = if mode != Watch.Fast then wakeUp()

  private def wakeUp(): Unit = synchronized {
    if mode == Watch.Gone then start()
    else if mode != Watch.Fast then
      coarse = Watch.now
      mode = Watch.Fast
      LockSupport.unpark(thread)
  }

  private def start(): Unit =
    if refusals.mayAsk then
      try
        coarse = Watch.now
        mode = Watch.Fast
        val created = Thread.ofPlatform().daemon().name("weir-watch").unstarted(() => watch())
        begin(created)
        thread = created
        refusals.granted()
      catch
        case _: Throwable => // the caller has a fiber to run
          mode = Watch.Gone
          refusals.refused()

  private def watch(): Unit =
    var here = true
    while here do
      LockSupport.parkNanos(
        this,
        if mode == Watch.Fast then Tuning.lookNanos else Tuning.slowLookNanos
      )
      try
        val now = System.nanoTime()
        val nanos = now - lastLook
        lastLook = now
        coarse = Watch.now
        look(nanos)
        here = isHere
      catch case error: Throwable => tell(error)

  /** As far as it can be told: the error may be one of memory, or the user's own. */
  private def tell(error: Throwable): Unit =
    try error.printStackTrace(System.err)
    catch case _: Throwable => ()

  private def look(nanos: Long): Unit =
    // Before it asks who runs: the other half of wake.
    if idleLooks >= Tuning.idleLooks then change(Watch.Fast, Watch.Slow)
    val busy = spins.look(hosts(), nanos)
    idleLooks = if busy then 0 else idleLooks + 1
    if busy then change(Watch.Slow, Watch.Fast)

  /** False once nobody has run for a while: then this thread ends. */
  private def isHere: Boolean =
    if mode == Watch.Slow && hosts().isEmpty then
      change(Watch.Slow, Watch.Asleep)
      if hosts().nonEmpty then change(Watch.Asleep, Watch.Slow) // the other half of wake
      else if mode == Watch.Asleep then LockSupport.parkNanos(this, Tuning.timerKeepAliveNanos)
      synchronized {
        if mode == Watch.Asleep then mode = Watch.Gone
        mode != Watch.Gone
      }
    else true

  private def change(from: Int, to: Int): Unit = synchronized { if mode == from then mode = to }

private[weir] object Watch:
  private inline val Gone = 0
  private inline val Asleep = 1
  private inline val Slow = 2
  private inline val Fast = 3

  private inline val tickBits = 24

  def now: Int = (System.nanoTime() >>> tickBits).toInt

  /** Nanoseconds since `ticks`, to within one tick, or a second where nothing but that one ran. */
  def nanosSince(ticks: Int): Long = (now - ticks).toLong.max(0) << tickBits
