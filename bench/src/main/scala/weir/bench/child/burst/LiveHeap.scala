package weir.bench.child.burst

/** How much heap something needs, without the garbage that it leaves. */
private[burst] object LiveHeap:
  /** The most bytes that were alive at any moment of `run`, which it slows down: the heap is collected
    * all the time.
    */
  def peakBytes(run: => Any): Long =
    @volatile var isOver = false
    var peak = 0L
    val collector = Thread.ofPlatform().start { () =>
      while !isOver do
        System.gc()
        peak = peak.max(used)
    }
    try run: Unit
    finally
      isOver = true
      collector.join()
    peak

  private def used: Long =
    val jvm = Runtime.getRuntime
    jvm.totalMemory - jvm.freeMemory
