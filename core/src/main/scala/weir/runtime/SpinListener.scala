package weir.runtime

/** Handles slices that compute for long, which `Spins` finds. */
private[weir] trait SpinListener:

  /** Returns true if a slice with this stack does one-time work that the user cannot change, such
    * as loading a class. Its time is then not counted.
    */
  def isExempt(stack: Array[StackTraceElement]): Boolean

  /** Handles a slice of `job` on `thread` that was found with this stack and has computed for
    * `Tuning.spinNanos`. Called on the watch's thread, once for each such slice.
    */
  def onSpin(thread: Thread, job: Job, stack: Array[StackTraceElement]): Unit

private[weir] object SpinListener:
  /** Reports nothing: the listener of a scheduler that no `weir.WeirRuntime` uses yet. */
  object Silent extends SpinListener:
    def isExempt(stack: Array[StackTraceElement]): Boolean = false
    def onSpin(thread: Thread, job: Job, stack: Array[StackTraceElement]): Unit = ()
