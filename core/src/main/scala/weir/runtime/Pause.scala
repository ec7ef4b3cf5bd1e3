package weir.runtime

/** Short spin-waits of a thread that keeps its carrier. They go by the clock: the time that
  * `Thread.onSpinWait` takes differs from one processor to the next by a factor of ten.
  */
private[weir] object Pause:
  /** Waits for so many nanoseconds, and at least as long as two looks at the clock take. */
  def nanos(nanos: Long): Unit =
    val begun = System.nanoTime()
    while System.nanoTime() - begun < nanos do Thread.onSpinWait()

  /** As `nanos`, but ends early when `isOver` is true. */
  inline def atMost(nanos: Long)(inline isOver: Boolean): Unit =
    if !isOver then
      val begun = System.nanoTime()
      while !isOver && System.nanoTime() - begun < nanos do Thread.onSpinWait()
