package weir.bench.child.burst

import java.util.concurrent.{Callable, ExecutorService, Executors}

/** Bare virtual threads: one for each fiber, and another one for each nested run. */
private[burst] object OnVirtualThreads extends BurstSystem:
  def nested(fibers: Int, calls: Int, inner: Inner): Long =
    def effect(): Long =
      if inner.yields then Thread.`yield`()
      inner.work()
    each(fibers)(executor =>
      Iterator.range(0, calls).map(_ => executor.submit((() => effect()): Callable[Long]).get).sum
    )

  def blocked(fibers: Int, millis: Long): Long = each(fibers)(_ => BurstSystem.block(millis))

  private def each(fibers: Int)(work: ExecutorService => Long): Long =
    val executor = Executors.newVirtualThreadPerTaskExecutor()
    try
      Vector
        .fill(fibers)(executor.submit((() => work(executor)): Callable[Long]))
        .map(_.get)
        .sum
    finally executor.close()
