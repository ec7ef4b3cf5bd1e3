package weir.runtime

/** The thread of a caller of `runSync`, which runs the first slice of its task itself.
  *
  * An interrupt of that thread cancels the task. It may show itself as an error of the task's code or, where that does
  * not block, as nothing but the thread's flag; so both are looked at.
  */
private[weir] final class Caller private (scheduler: Scheduler, depth: Int) extends Host(scheduler):
  val thread: Thread = Thread.currentThread()

  /** A virtual thread holds a carrier, a platform thread does not. */
  val pooled: Boolean = thread.isVirtual

  override def isCaller: Boolean = true

  // owner only
  private var wasInterrupted = false

  def home: Int = thread.threadId().toInt

  override def hasBeenInterrupted: Boolean = wasInterrupted

  override def takeInterrupt(error: Throwable | Null): Boolean =
    Thread.interrupted() || error.isInstanceOf[InterruptedException]

  override def interruptedFromOutside(): Unit = wasInterrupted = true

  /** Runs one slice of `job`, and of the jobs that it hands over. Where calls of `runSync` are nested so deep that the
    * thread's stack could overflow, it queues the job instead: a worker then has a stack of its own for it. So it
    * does where the scheduler runs everything on threads of its own.
    */
  def run(job: Job): Unit =
    if depth >= Tuning.nestedCalls || !scheduler.runsOn(thread) then scheduler.submit(job)
    else
      val before = scheduler.enter(this)
      try
        val worker = Host.workerHere
        if worker eq null then
          ScopedValue.where(Caller.current, this).run(() => runSlices(job, null))
        else
          val outer = worker.caller
          worker.caller = this
          try runSlices(job, worker)
          finally worker.caller = outer
      finally scheduler.leave(this, before)

  private def runSlices(job: Job, worker: Worker | Null): Unit =
    var current: Job | Null = job
    while current ne null do
      current.runSlice(this)
      if worker ne null then worker.beFound()
      current = takeHandedOver()

  override private[runtime] def nesting: Int = depth

private[weir] object Caller:
  private val current: ScopedValue[Caller] = ScopedValue.newInstance()

  /** The innermost one on the calling thread, which is no worker; or null. A thread that was started in the scope of a caller inherits
    * the value, so it is compared.
    */
  private[runtime] def here: Caller | Null =
    if current.isBound then
      val caller = current.get
      if caller.thread eq Thread.currentThread() then caller else null
    else null

  /** For the calling thread, which may run a fiber of `outer`. '''Fails''' with a `StackOverflowError` where code that recurses
    * through `runSync` has left so little of its stack that the run loop could not end what it begins. The first call inside
    * of a fiber is not checked: that costs ten times what the call does, and `weir burst` makes nothing else.
    */
  def apply(scheduler: Scheduler, outer: Host | Null): Caller =
    if outer eq null then new Caller(scheduler, 0)
    else
      if outer.nesting > 0 then descend(Tuning.callerStackFrames): Unit
      new Caller(scheduler, outer.nesting + 1)

  /** Uses so many frames of the stack, for a moment. */
  private def descend(frames: Int): Int = if frames == 0 then 0 else descend(frames - 1) + 1
