package weir

import java.io.{PrintWriter, StringWriter}
import java.util.concurrent.atomic.AtomicInteger
import weir.kernel.{FiberCore, Linked, Waiter}
import weir.runtime.{PlatformThreads, Scheduler, SystemTimers, Timers, Tuning}
import weir.trace.DumpSignal

/** What tasks run on: the scheduler and the timer.
  *
  * One is enough for a program, and it is there without being asked for: `Runtime.default`. There is no
  * pool to choose, since every task may block.
  */
class Runtime private[weir] (
    private[weir] val scheduler: Scheduler,
    private[weir] val timers: Timers,
    private[weir] val hook: ContextHook | Null
):
  Linked.waiters()

  private[weir] val platformThreads: PlatformThreads = PlatformThreads()
  private[weir] val strayCount: AtomicInteger = AtomicInteger()

  /** How many tasks `timeoutAbandon` has left behind that have not ended yet. */
  def strays: Int = strayCount.get

  /** What all fibers of this runtime are doing: for each one its state, since when, what it waits for and who must act before that
    * ends, and the user's lines; and which fibers wait for each other in a circle.
    */
  def fiberDump(): FiberDump = FiberDump.of(this)

  /** The text of `fiberDump`. */
  def dump(): String = fiberDump().toString

  /** Prints the dump to the standard error each time that this process gets the signal, such as `USR2`: `kill -USR2 PID`.
    *
    * '''Fails''' with an `IllegalArgumentException` where the JVM does not give that signal away.
    */
  def dumpOnSignal(signal: String): Unit = DumpSignal.install(this, signal)

  /** Calls `report` with each piece of a task that computes for over 200 ms without giving way, once, on a thread of the
    * runtime's own. Until this is called they are printed to the standard error.
    */
  def onSpin(report: Spin => Unit): Unit = scheduler.onSpin = report

  /** Prints an error that nobody is left to handle. */
  private[weir] def report(where: String, error: Throwable): Unit =
    val text = StringWriter()
    try error.printStackTrace(PrintWriter(text))
    // Its own methods are called, which may throw.
    catch case _: Throwable => text.write(s"${error.getClass.getName}, which failed to say more")
    val lines = text.toString.stripTrailing
    System.err.println(s"weir: $where failed, and nobody is left to handle its error:\n$lines")

  // Two hooks for the test kit's runtime, which are empty here, and as good as not there to the JIT.

  /** Called for each new fiber, at the end of its constructor. */
  private[weir] def begun(fiber: FiberCore): Unit = ()

  /** Called before each wait for a callback that code outside of the runtime may call. */
  private[weir] def waitsOutside(waiter: Waiter): Unit = ()

  private[weir] def isQuiet: Boolean = scheduler.isQuiet && timers.size == 0

object Runtime:
  /** The runtime of this JVM, with as many carriers as the JDK gives to virtual threads. */
  given default: Runtime =
    val runtime = hooked(Scheduler.carriersOfThisJvm, Tuning.ringCapacity, ContextHook.installed)
    DumpSignal.installAsAsked(runtime)
    runtime

  private[weir] def make(carriers: Int, ringCapacity: Int): Runtime =
    hooked(carriers, ringCapacity, null)

  private[weir] def hooked(carriers: Int, ringCapacity: Int, hook: ContextHook | Null): Runtime =
    Runtime(Scheduler(carriers, ringCapacity), SystemTimers(), hook)
