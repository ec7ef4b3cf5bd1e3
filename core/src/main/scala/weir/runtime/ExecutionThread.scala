package weir.runtime

import java.util.concurrent.locks.LockSupport
import scala.compiletime.uninitialized

/** An object that the scheduler queues. It runs for one slice and then gives its thread back. This
  * folder knows no more of a fiber than that.
  */
private[weir] abstract class Job:

  /** Runs on `executionThread`, the calling thread, until the job ends, suspends or yields. Never
    * throws. When it returns, the job may already be running on another thread.
    */
  def runSlice(executionThread: ExecutionThread): Unit

  /** Returns whether a worker is needed for this job yet: `Now`, `Later` or `Never`. The standby
    * that has taken the job calls this before the job's first slice.
    */
  def demand: Int = Job.Now

private[weir] object Job:
  /** Run it. */
  inline val Now = 0

  /** At present, others do its work faster without this worker: ask again soon. */
  inline val Later = 1

  /** Others have done its work: drop it. */
  inline val Never = 2

/** A thread that runs slices: a worker, or the calling thread of a `runSync`.
  *
  * `handedOver` is the job that this thread runs as soon as the present slice returns. No other
  * thread can take it. That is safe because this thread cannot block between the hand-over and the
  * run: the slice that hands over returns at once.
  */
private[weir] abstract class ExecutionThread(val scheduler: Scheduler):

  // immutable
  def thread: Thread

  /** Returns the number of calls of `runSync` on this thread's stack. */
  private[runtime] def nesting: Int = 0

  /** Returns true if this is the calling thread of a `runSync` or a `runAsyncHere`. */
  def isCaller: Boolean = false

  /** Returns true if this is the calling thread of a `runAsyncHere`: a fiber leaves it at the end
    * of the slice, and before plain code that may wait.
    */
  def isBorrowed: Boolean = false

  /** Returns true if a long slice would occupy a carrier, so that it has to yield to queued work.
    */
  def pooled: Boolean

  // owner only
  /** The job whose slice this thread runs, or ran last. */
  final var running: Job | Null = null
  private var handedOver: Job | Null = null
  private var handOvers: Int = 0
  private var lastYield: Long = uninitialized
  private var yields: Int = 0
  private var cedes: Int = 0

  private var sliceStart: Long = 0
  private var sliceInstructions: Int = 0

  /** True if this thread has taken its slot from a blocked worker. Reset when the first job has
    * returned, or has asked.
    */
  final protected var isReplacing: Boolean = false

  /** Returns true, once, if this thread has taken its slot from a blocked worker, so that its own
    * job may be about to block too.
    */
  final def takeReplacing(): Boolean =
    val was = isReplacing
    isReplacing = false
    was

  /** Returns the shard that this thread pushes to, and takes from first. */
  def preferredShard: Int

  /** Runs `job` next on this thread, or queues it: after `Tuning.handOversInARow` hand-overs the
    * queue has its turn, so that two jobs that keep handing over to each other do not starve the
    * others.
    */
  def handOver(job: Job): Unit =
    if (handedOver eq null) && handOvers < Tuning.handOversInARow then
      handOvers += 1
      Counters.count(Counters.HandOver)
      handedOver = job
    else
      handOvers = 0
      Counters.count(Counters.QueuedHandOver)
      scheduler.submit(job, preferredShard)

  final protected def takeHandedOver(): Job | Null =
    val job = handedOver
    handedOver = null
    job

  /** Queues the job that was handed over, for a slice that does not return after all. */
  final def queueHandedOver(): Unit =
    val job = takeHandedOver()
    if job ne null then scheduler.submit(job, preferredShard)

  /** The number of slices that this thread has begun. Read by the watch. */
  final var slices: Int = 0

  /** The watch's time when this thread began its latest slice. Read by dumps. */
  final var begun: Int = 0

  /** The fibers that have begun and ended on this thread while it was listed. Read by
    * `FiberCounts`.
    */
  final private[runtime] var fibersBegun: Long = 0
  final private[runtime] var fibersSucceeded: Long = 0
  final private[runtime] var fibersFailed: Long = 0
  final private[runtime] var fibersCanceled: Long = 0

  /** True if this thread is in the list of workers, so that its counts are found there. */
  final protected var isListed: Boolean = false

  /** Counts a fiber whose first slice begins on this thread. */
  final def countBegun(): Unit =
    if isListed then fibersBegun += 1 else scheduler.fiberCounts.begun.increment()

  /** Counts a fiber that ends on this thread with a value. */
  final def countSucceeded(): Unit =
    if isListed then fibersSucceeded += 1 else scheduler.fiberCounts.succeeded.increment()

  /** Counts a fiber that ends on this thread with an error. */
  final def countFailed(): Unit =
    if isListed then fibersFailed += 1 else scheduler.fiberCounts.failed.increment()

  /** Counts a fiber that ends on this thread because it was cancelled. */
  final def countCanceled(): Unit =
    if isListed then fibersCanceled += 1 else scheduler.fiberCounts.canceled.increment()

  /** The knowledge of the watch about this thread. For the watch's thread only. */
  private[weir] final var seen: Spins.Seen | Null = null

  /** Begins a slice, and returns the number of instructions that it may run before it asks
    * `moreBudget`.
    */
  def beginSlice(): Int =
    slices += 1
    begun = scheduler.ticks
    sliceInstructions = 0
    Tuning.clockInstructions

  /** Returns the number of instructions that the present slice may still run; 0 if it is over. The
    * clock is not read in slices that are shorter than the first budget, and seldom in slices that
    * turn out to be fast.
    */
  def moreBudget(): Int =
    val now = System.nanoTime()
    if sliceInstructions == 0 then sliceStart = now
    sliceInstructions += Tuning.clockInstructions
    val took = now - sliceStart
    if took > Tuning.sliceNanos || sliceInstructions >= Tuning.sliceInstructions then 0
    else if sliceInstructions > Tuning.clockInstructions && took < Tuning.fastNanos then
      val rest = Tuning.sliceInstructions - sliceInstructions
      sliceInstructions = Tuning.sliceInstructions
      rest
    else Tuning.clockInstructions

  /** Returns true if this thread was interrupted, which `error` may be a sign of, and clears its
    * flag. Returns false for a worker and for a borrowed thread, which only cancels interrupt.
    */
  def takeInterrupt(error: Throwable | Null): Boolean = false

  /** Called after `takeInterrupt` if no cancel has made that interrupt. */
  def interruptedFromOutside(): Unit = ()

  /** Returns true if `interruptedFromOutside` has been called. */
  def hasBeenInterrupted: Boolean = false

  /** Gives the carrier back to the JDK's scheduler if this thread has had it for a while: virtual
    * threads are not time-sliced, and the user's own must not starve. If `inSlice`, the present job
    * stays on this thread: then, if work is queued, the thread also gives up its slot, so that
    * another worker runs the work.
    *
    * `Thread.yield` puts this thread into its carrier's own queue if that is not empty, and a
    * carrier looks at the JDK's common queue only when its own is empty: two threads that yield to
    * each other would starve the rest. So every eighth time, and whenever work is queued, this
    * thread parks for a moment instead, and comes back by the common queue.
    */
  def yieldIfDue(inSlice: Boolean): Unit =
    if pooled then
      val now = System.nanoTime()
      if now - lastYield > Tuning.yieldAfterNanos then
        yields += 1
        val workWaits = inSlice && scheduler.hasWork
        if workWaits then giveUpSlot()
        if workWaits || yields % Tuning.yieldsPerPark == 0 then parkFor(1)
        else Thread.`yield`()
        lastYield = System.nanoTime()

  /** Parks, whether the thread has a permit or not. Each interrupt, and so each cancel of a fiber
    * that runs, leaves a permit, with which a park returns at once and keeps the carrier. This
    * method is not final, only for tests.
    */
  private[runtime] def parkFor(nanos: Long): Unit =
    LockSupport.parkUntil(0) // a time in the past: takes the permit, and does not wait
    LockSupport.parkNanos(nanos)

  /** As `yieldIfDue`, for fibers that cede while nothing is queued, possibly every few nanoseconds.
    */
  final def yieldNowAndThen(): Unit =
    cedes += 1
    if cedes % Tuning.cedesPerClock == 0 then yieldIfDue(inSlice = true)

  /** Frees this thread's slot, if it holds one, for the standby. */
  protected def giveUpSlot(): Unit = ()

private[weir] object ExecutionThread:
  /** Returns the execution thread as which the calling thread runs slices, or null if it runs none.
    *
    * A worker is found by the handler of uncaught exceptions of its thread: a scoped value would
    * put frames under everything that blocks, and a thread-local would need a map beside it. If
    * user code sets another handler, the worker is not found for the rest of that slice. Other
    * threads run slices only in `runSync`, and have a scoped value there.
    */
  def here: ExecutionThread | Null =
    val worker = workerHere
    if worker ne null then
      val caller = worker.caller
      if caller eq null then worker else caller
    else CallingThread.here

  /** Runs `body`, which runs slices as `thread`, on the calling thread. */
  def as(thread: ExecutionThread)(body: => Unit): Unit =
    val worker = workerHere
    if worker eq null then ScopedValue.where(CallingThread.current, thread).run(() => body)
    else
      val outer = worker.caller
      worker.caller = thread
      try body
      finally
        worker.caller = outer
        worker.setHandler()

  /** Returns the preferred shard of the calling thread if it is a worker, or else `otherwise`. */
  def shardHere(otherwise: Int): Int =
    val worker = workerHere
    if worker eq null then otherwise else worker.preferredShard

  /** Returns the worker of the calling thread, or null. A thread of the user's may have copied the
    * handler.
    */
  private[runtime] def workerHere: Worker | Null =
    val thread = Thread.currentThread()
    thread.getUncaughtExceptionHandler match
      case worker: Worker if worker.thread eq thread => worker
      case _ => null

/** The thread that calls `runSync` or `runAsyncHere`, while it runs the first slice of the task
  * itself.
  *
  * An interrupt of the caller of `runSync` cancels the task. If the task's code blocks, the
  * interrupt arrives as an error of that code. Otherwise it arrives only as the thread's flag. So
  * both are checked. A borrowed thread runs tasks for others, so an interrupt of it means none of
  * them.
  */
private[weir] final class CallingThread private (
    scheduler: Scheduler,
    depth: Int,
    override val isBorrowed: Boolean
) extends ExecutionThread(scheduler):
  val thread: Thread = Thread.currentThread()

  /** A virtual thread occupies a carrier, a platform thread does not. */
  val pooled: Boolean = thread.isVirtual

  override def isCaller: Boolean = true

  // owner only
  private var wasInterrupted = false

  def preferredShard: Int = thread.threadId().toInt

  /** A borrowed thread runs one job only. */
  override def handOver(job: Job): Unit =
    if isBorrowed then scheduler.submit(job, preferredShard) else super.handOver(job)

  override def hasBeenInterrupted: Boolean = wasInterrupted

  override def takeInterrupt(error: Throwable | Null): Boolean =
    !isBorrowed && (Thread.interrupted() || error.isInstanceOf[InterruptedException])

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
    if outer eq null then new CallingThread(scheduler, 0, isBorrowed = false)
    else
      if outer.nesting > 0 then descend(Tuning.callerStackFrames): Unit
      new CallingThread(scheduler, outer.nesting + 1, isBorrowed = false)

  /** Makes one for the calling thread, which runs no slices, and a `runAsyncHere`. */
  def borrowed(scheduler: Scheduler): CallingThread =
    new CallingThread(scheduler, 0, isBorrowed = true)

  /** Uses so many frames of the stack, and returns. */
  private def descend(frames: Int): Int = if frames == 0 then 0 else descend(frames - 1) + 1

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
