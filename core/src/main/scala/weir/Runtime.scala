package weir

import java.util.concurrent.atomic.AtomicInteger
import weir.kernel.{FiberCore, Waiter}
import weir.runtime.{PlatformThreads, Scheduler, SystemTimers, Timers, Tuning}

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
  private[weir] val platformThreads: PlatformThreads = PlatformThreads()
  private[weir] val strayCount: AtomicInteger = AtomicInteger()

  /** How many tasks `timeoutAbandon` has left behind that have not ended yet. */
  def strays: Int = strayCount.get

  /** Prints an error that nobody is left to handle. */
  private[weir] def report(where: String, error: Throwable): Unit =
    System.err.println(s"weir: $where failed, and nobody is left to handle its error:")
    error.printStackTrace(System.err)

  // Two hooks for the test kit's runtime, which are empty here, and as good as not there to the JIT.

  /** Called for each new fiber, at the end of its constructor. */
  private[weir] def begun(fiber: FiberCore): Unit = ()

  /** Called before each wait for a callback that code outside of the runtime may call. */
  private[weir] def waitsOutside(waiter: Waiter): Unit = ()

  private[weir] def isQuiet: Boolean = scheduler.isQuiet && timers.size == 0

object Runtime:
  /** The runtime of this JVM, with as many carriers as the JDK gives to virtual threads. */
  given default: Runtime =
    hooked(Scheduler.carriersOfThisJvm, Tuning.ringCapacity, ContextHook.installed)

  private[weir] def make(carriers: Int, ringCapacity: Int): Runtime =
    hooked(carriers, ringCapacity, null)

  private[weir] def hooked(carriers: Int, ringCapacity: Int, hook: ContextHook | Null): Runtime =
    Runtime(Scheduler(carriers, ringCapacity), SystemTimers(), hook)
