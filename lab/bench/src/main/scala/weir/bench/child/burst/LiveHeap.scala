package weir.bench.child.burst

import java.util.concurrent.locks.LockSupport

/** Measures the live heap that something needs, without its garbage. */
private[burst] object LiveHeap:
  /** Returns the most bytes that were alive when, early in `run`, the heap was collected a few
    * times. More often, or without a pause, hundreds of threads would have no chance to take turns.
    * A `run` that ends before the first collection does is repeated.
    */
  def peakBytes(run: => Any): Long =
    @volatile var isOver = false
    @volatile var peak = 0L
    val collector = Thread.ofPlatform().start { () =>
      var collections = 0
      while !isOver && collections < most do
        val start = System.nanoTime()
        System.gc()
        peak = peak.max(used)
        collections += 1
        LockSupport.parkNanos(System.nanoTime() - start)
    }
    try
      while
        run: Unit
        peak == 0
      do ()
    finally
      isOver = true
      collector.join()
    peak

  private val most = 10

  private def used: Long =
    val jvm = Runtime.getRuntime
    jvm.totalMemory - jvm.freeMemory
