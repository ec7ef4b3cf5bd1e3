package weir.runtime

/** What is to be done about slices that compute for long, which `Spins` finds. */
private[weir] trait SpinListener:

  /** Whether a slice with this stack does once what the user cannot change, such as loading a
    * class: then its time is not counted.
    */
  def isExempt(stack: Array[StackTraceElement]): Boolean

  /** The slice of `job` on `thread`, found with this stack, has computed for `Tuning.spinNanos`.
    * Called on the watch's thread, once for each such slice.
    */
  def onSpin(thread: Thread, job: Job, stack: Array[StackTraceElement]): Unit

private[weir] object SpinListener:
  /** Reports nothing: the listener of a scheduler that no `weir.Runtime` uses yet. */
  object Silent extends SpinListener:
    def isExempt(stack: Array[StackTraceElement]): Boolean = false
    def onSpin(thread: Thread, job: Job, stack: Array[StackTraceElement]): Unit = ()
