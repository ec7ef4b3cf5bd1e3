package weir.runtime

import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.{SynchronousQueue, ThreadPoolExecutor, TimeUnit}

/** Platform threads, for code that would pin a carrier.
  *
  * There is no limit: each call gets a thread at once. A thread that has ended its call waits a
  * while for the next one, and then ends: starting a thread takes several times as long as handing
  * a call over.
  */
private[weir] final class PlatformThreads:
  private val calls = AtomicInteger()

  private val executor = new ThreadPoolExecutor(
    0,
    Int.MaxValue,
    Tuning.platformKeepAliveNanos,
    TimeUnit.NANOSECONDS,
    SynchronousQueue(),
    Thread
      .ofPlatform()
      .daemon()
      .name("weir-platform-", 1)
      .inheritInheritableThreadLocals(false)
      .factory()
  ):
    override def afterExecute(call: Runnable, error: Throwable): Unit =
      calls.decrementAndGet(): Unit

  def execute(call: Runnable): Unit =
    calls.incrementAndGet(): Unit
    try executor.execute(call)
    catch
      case error: Throwable =>
        calls.decrementAndGet(): Unit
        throw error

  /** Returns the number of calls that have been requested and have not ended. */
  def running: Int = calls.get

  /** Returns the number of threads, whether they run a call or wait for one. */
  def size: Int = executor.getPoolSize
