package weir.runtime

/** The thread that calls `runSync`, while it runs the first slice of the task itself.
  *
  * An interrupt of that thread cancels the task. If the task's code blocks, the interrupt arrives
  * as an error of that code. Otherwise it arrives only as the thread's flag. So both are checked.
  */
private[weir] final class CallingThread private (scheduler: Scheduler, depth: Int)
    extends ExecutionThread(scheduler):
  val thread: Thread = Thread.currentThread()

  /** A virtual thread occupies a carrier, a platform thread does not. */
  val pooled: Boolean = thread.isVirtual

  override def isCaller: Boolean = true

  // owner only
  private var wasInterrupted = false

  def preferredShard: Int = thread.threadId().toInt

  override def hasBeenInterrupted: Boolean = wasInterrupted

  override def takeInterrupt(error: Throwable | Null): Boolean =
    Thread.interrupted() || error.isInstanceOf[InterruptedException]

  override def interruptedFromOutside(): Unit = wasInterrupted = true

  /** Runs one slice of `job`, and of the jobs that it hands over. Queues `job` instead if calls of
    * `runSync` are nested so deep that the thread's stack could overflow: the worker that takes it
    * has a stack of its own. Also queues it if the scheduler runs everything on its own threads.
    */
  def run(job: Job): Unit =
    if depth >= Tuning.nestedCalls || !scheduler.runsOn(thread) then scheduler.submit(job)
    else
      val before = scheduler.add(this)
      try
        val worker = ExecutionThread.workerHere
        if worker eq null then
          ScopedValue.where(CallingThread.current, this).run(() => runSlices(job, null))
        else
          val outer = worker.caller
          worker.caller = this
          try runSlices(job, worker)
          finally worker.caller = outer
      finally scheduler.remove(this, before)

  private def runSlices(job: Job, worker: Worker | Null): Unit =
    var current: Job | Null = job
    while current ne null do
      current.runSlice(this)
      if worker ne null then worker.setHandler()
      current = takeHandedOver()

  override private[runtime] def nesting: Int = depth

private[weir] object CallingThread:
  private[runtime] val current: ScopedValue[ExecutionThread] = ScopedValue.newInstance()

  /** Returns the innermost `runSync` of the calling thread, or the other execution thread as which
    * it runs slices, if that is not a worker; else null. The thread is compared, since a thread
    * that is started inside of the scope may inherit the value.
    */
  private[runtime] def here: ExecutionThread | Null =
    if current.isBound then
      val caller = current.get
      if caller.thread eq Thread.currentThread() then caller else null
    else null

  /** Makes one for the calling thread; `outer` is the execution thread as which that already runs
    * slices, or null. **Fails** with a `StackOverflowError` if code that recurses through `runSync`
    * has left so little of the stack that the interpreter could not end what it begins. The first
    * call inside of a fiber is not checked: the check costs ten times as much as the call, and
    * `weir burst` makes only such calls.
    */
  def apply(scheduler: Scheduler, outer: ExecutionThread | Null): CallingThread =
    if outer eq null then new CallingThread(scheduler, 0)
    else
      if outer.nesting > 0 then descend(Tuning.callerStackFrames): Unit
      new CallingThread(scheduler, outer.nesting + 1)

  /** Uses so many frames of the stack, and returns. */
  private def descend(frames: Int): Int = if frames == 0 then 0 else descend(frames - 1) + 1
