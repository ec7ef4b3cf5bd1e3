package weir.fiber

import java.util.concurrent.locks.LockSupport
import scala.concurrent.{ExecutionContext, blocking}
import weir.runtime.{ContextThread, ExecutionThread, FiberRegistry, Job}
import weir.{Task, WeirRuntime}

/** The continuation stack of a fiber, and the slices in which it is run: yielding, suspending,
  * resuming, and the jobs that the fiber queues.
  *
  *   - **The stack** holds nodes: instructions that wait for their source's result, and frames. It
  *     is the whole state of a suspended fiber; no part of that is on the JVM's stack. The mask of
  *     an `uncancelable` is a `Mask`, which is also its poll.
  *   - **A slice** runs on one thread, from `TaskFiber.runSlice` until the fiber ends, suspends or
  *     yields. A method that ends a slice says whether this thread still owns the fiber. If not,
  *     the caller must not touch the fiber any more.
  *   - **`base`** is the height of the stack under the instructions that run. While code of
  *     `Task.direct` awaits (`base > 0`), the fiber cannot leave its thread: it parks the thread
  *     instead.
  *
  * The self type is for those who have to know the fiber: the registry, and frames that it
  * notifies. README.md in this folder has the contract with `TaskFiber`.
  */
private[weir] abstract class FiberStack(runtime: WeirRuntime, body: Task[Any])
    extends FiberCore(runtime):
  this: TaskFiber =>

  // owner only
  private var stack: Array[Node | Null] = FiberStack.empty
  final private[fiber] var size: Int = 0

  /** The innermost mask of an `uncancelable` that has a frame and has not been removed. */
  final private[fiber] var innermostMask: Mask | Null = null

  /** The start of the next slice: a task, or the waiter that has been completed or cancelled. */
  final private[fiber] var pending: AnyRef | Null = body

  /** The number of instructions that this slice may run before it asks its thread for more. */
  final private[weir] var budget: Int = 0

  /** The frame to notify once before this fiber suspends or yields; null for none. */
  final private[weir] var frameToNotify: Frame | Null = null

  /** Its entry in the fiber registry, from its first wait that a dump would not find otherwise. */
  private var registryEntry: FiberRegistry.Entry | Null = null

  /** The execution context whose threads run this fiber; null for the workers of the runtime. */
  final private[weir] var context: ExecutionContext | Null = null

  /** The number of times that the fiber has parked a platform thread that has called `runSync`,
    * modulo 2^16.
    */
  final private[weir] var callerParks: Short = 0

  /** True while a worker, not a thread of `context`, runs plain code: see `RunsApart`. */
  final private[weir] var isApart: Boolean = false

  /** True inside of the body of a `DirectCode`. */
  final private[fiber] var inDirect: Boolean = false

  // ---- the stack ----

  final private[weir] def push(frame: Node): Unit =
    if size == stack.length then
      stack = java.util.Arrays.copyOf(stack, if size == 0 then 4 else size * 2)
    stack(size) = frame
    size += 1

  final private[weir] def pop(): Node =
    size -= 1
    val frame = stack(size)
    stack(size) = null
    frame.nn

  /** Returns true if `node` is on top of the stack, above `base`. */
  final protected def isOnTop(node: Node, base: Int): Boolean =
    size > base && (stack(size - 1) eq node)

  /** Takes over the masks of `other`, whose polls then work in this fiber. Call it before the fiber
    * is queued.
    */
  final private[fiber] def adoptMasks(other: FiberStack): Unit =
    masks = other.masks
    innermostMask = other.innermostMask
    finalizing = other.finalizing

  /** Drops the frames above `height` without running them, and restores the masks that were on
    * then.
    */
  final protected def dropTo(height: Int, masksBefore: Int, maskBefore: Mask | Null): Unit =
    while size > height do pop(): Unit
    innermostMask = maskBefore
    while masks > masksBefore && !finalizing do removeMask()
    while masks < masksBefore do addMask()

  /** Returns at most `limit` frames, the innermost first. A frame is null if another thread has
    * changed the stack meanwhile.
    */
  final private[weir] def topFrames(limit: Int): IndexedSeq[Node | Null] =
    val frames = stack
    val top = math.min(size, frames.length)
    (1 to math.min(top, limit)).map(i => frames(top - i))

  private def topFrame: Node | Null = if size == 0 then null else stack(size - 1)

  /** Returns the outermost frame, or null. May be called by another thread, as `topFrames`. */
  final private[weir] def bottomFrame: Node | Null =
    val frames = stack
    if frames.length > 0 then frames(0) else null

  // ---- masks that have a frame ----

  /** Adds the mask of an `uncancelable`, which has no frame yet: see `pushMask`. */
  final protected def addNewMask(): Mask =
    val mask = Mask(masks + 1, innermostMask)
    addMask()
    mask

  final protected def pushMask(mask: Mask): Unit =
    innermostMask = mask
    push(mask)

  /** Ends the body of `mask`. */
  final protected def endMask(mask: Mask): Unit =
    innermostMask = mask.outer
    removeMask()

  /** Ends the task that the poll of `mask` has unmasked. */
  final protected def restoreMask(mask: Mask): Unit =
    innermostMask = mask
    addMask()

  // ---- the budget ----

  override def demand: Int = pending match
    case first: BeginFrame[?] => first.demand
    case _ => Job.Now

  /** Returns true if a frame may run a ready child itself: if there is budget left, and no cancel.
    * Takes one instruction from the budget.
    */
  final def mayGoOn: Boolean = !outOfBudget && !shouldCancel

  /** Takes one instruction from the budget. Returns true at the end of the slice. */
  final private[fiber] def outOfBudget: Boolean =
    budget -= 1
    budget <= 0 && isSliceOver

  final private[fiber] def isSliceOver: Boolean = renewBudget() == 0

  /** Asks the thread for a new budget and returns it; 0 at the end of the slice. */
  final private[weir] def renewBudget(): Int =
    budget = executionThread.moreBudget()
    budget

  // ---- yielding ----

  /** Yields to queued jobs, to continue with `task` afterwards. Returns true if this thread does
    * not own the fiber any more. Returns false if nothing is queued, if the fiber cannot leave its
    * thread, or if it need not: on a platform thread that has called `runSync` it occupies no
    * carrier.
    */
  final protected def yieldSlice(task: Task[Any], isCede: Boolean, base: Int): Boolean =
    budget = executionThread.beginSlice()
    if base == 0 && othersWait then
      val executionThread = this.executionThread
      leaveThread(task)
      if !isCede then executionThread.yieldIfDue(inSlice = false)
      true
    else
      if isCede then stayAfterCede() else stayOnThread()
      false

  /** Returns true if others may want the thread. Returns true for a thread of a context, and for a
    * borrowed one, since nothing is known of their other jobs.
    */
  private def othersWait: Boolean =
    executionThread.pooled &&
      ((context ne null) || runtime.scheduler.mayHaveWork(executionThread.preferredShard)) ||
      executionThread.isBorrowed

  /** Queues this fiber, to continue with `task`. If it throws, this thread still owns the fiber. */
  final protected def leaveThread(task: Task[Any]): Unit =
    notifyFrame()
    leaveThread(task, executionThread.preferredShard)

  private def leaveThread(task: Task[Any], shard: Int): Unit =
    val here = executionThread
    if masks == 0 then closeInterruptGate()
    try
      saveContext()
      this.executionThread = null.asInstanceOf[ExecutionThread]
      pending = task
      runtime.scheduler.submit(this, shard)
    catch
      case error: Throwable => // it is not queued: there was no memory
        pending = null
        this.executionThread = here
        if masks == 0 then openInterruptGate()
        throw error

  /** Returns true if a thread of the context will run the slice that a worker has begun. */
  final protected def isSent: Boolean =
    val target = context
    (target ne null) && !isApart && !executionThread.isInstanceOf[ContextThread] && {
      val at = executionThread
      executionThread = null.asInstanceOf[ExecutionThread]
      ContextThread.send(this, target, runtime.scheduler) || {
        executionThread = at
        false
      }
    }

  /** Cedes in place. Returns true if the fiber has ceded and goes on, since nothing is queued that
    * could run instead.
    */
  final private[weir] def cedesInPlace(): Boolean =
    mayGoOn && !othersWait && {
      budget = executionThread.beginSlice()
      stayAfterCede()
      true
    }

  private def stayAfterCede(): Unit =
    takeOutsideInterrupt(null)
    executionThread.yieldNowAndThen()

  /** Called at the end of a slice, if the fiber continues with a further one on the same thread. */
  final protected def stayOnThread(): Unit =
    takeOutsideInterrupt(null)
    executionThread.yieldIfDue(inSlice = true)

  /** Treats an interrupt of the calling thread that no cancel has made as a cancel. */
  private def takeOutsideInterrupt(error: Throwable | Null): Unit =
    // A cancel is requested before it interrupts. So if none is requested, neither before nor after
    // the flag is taken, the interrupt is from outside.
    if masks == 0 && !cancelRequested && executionThread.takeInterrupt(error) && !cancelRequested
    then
      executionThread.interruptedFromOutside()
      cancelRequested = true

  /** Returns true if this fiber is being cancelled. Then `error`, which its code has thrown, is the
    * effect of the interrupt, or comes too late to count.
    */
  final private[weir] def isCancel(error: Throwable): Boolean =
    takeOutsideInterrupt(error)
    shouldCancel

  // ---- suspending ----

  /** Suspends the fiber in `wait`. Returns true if the wait has ended and this thread continues
    * with the fiber. Returns false if this thread does not own the fiber any more.
    */
  final protected def suspendOn(wait: Waiter, base: Int): Boolean =
    notifyFrame()
    val unmasked = masks == 0
    if unmasked then closeInterruptGate()
    val direct = base > 0
    val executionThread = this.executionThread
    wait.cancelable = unmasked
    wait.since = executionThread.scheduler.ticks
    wait.leftShard = executionThread.preferredShard.toByte
    if (registryEntry eq null) && !direct && !wait.isFound then
      // An error would leave the wait, which has begun, without a fiber. So no dump finds it then.
      try registryEntry = runtime.scheduler.fiberRegistry.add(this, executionThread.preferredShard)
      catch case _: Throwable => ()
    if direct then wait.thread = Thread.currentThread()
    else
      saveContext()
      this.executionThread = null.asInstanceOf[ExecutionThread]
    waiting = wait // pairs with the order of accesses in requestCancel
    val goesOn =
      if !wait.suspend() then
        wait.awaitDone()
        true
      // A canceller that has read `waiting` before the CAS has not found the wait suspended. So its
      // request is read after the CAS.
      else if unmasked && cancelRequested && wait.takeForCancel() then
        // This slice does not end yet. The first child of a group would wait for the cancel's hook.
        executionThread.queueHandedOver()
        true
      else if direct then
        parkUntilEnded(wait)
        true
      else false
    if goesOn then
      this.executionThread = executionThread
      if unmasked then openInterruptGate()
    goesOn

  private def parkUntilEnded(wait: Waiter): Unit =
    if wait.isWaiting && isOnCallingThread then callerParks = (callerParks + 1).toShort
    if executionThread.isInstanceOf[ContextThread] then parkOnContext(wait) else parkWhile(wait)

  /** Parks the thread of a context. A pool that can adds a thread for others, as
    * `ExecutionContext.global` does. A pool that has reached its limit may throw instead: the wait
    * goes on, since it will be completed.
    */
  private def parkOnContext(wait: Waiter): Unit =
    try blocking(parkWhile(wait))
    catch case _: Throwable => parkWhile(wait)

  private def parkWhile(wait: Waiter): Unit =
    var interrupted = false
    while wait.isWaiting do
      LockSupport.park(wait)
      // No cancel has made it: the gate is closed. On the thread of a caller of runSync it cancels.
      if executionThread.takeInterrupt(null) then
        executionThread.interruptedFromOutside()
        requestCancel()
      else if Thread.interrupted() then interrupted = true
    if interrupted then Thread.currentThread().interrupt()

  private def notifyFrame(): Unit =
    val frame = frameToNotify
    if frame ne null then
      frameToNotify = null
      frame.onSuspend(this)

  /** Continues with `task` on a worker, which has a stack of its own. Returns false if there is no
    * memory to queue the fiber: then it has to continue here.
    */
  final protected def movesToWorker(task: Task[Any]): Boolean =
    try
      leaveThread(task, Thread.currentThread().threadId().toInt)
      true
    catch case _: Throwable => false

  /** Called at the fiber's end: no thread runs it any more, and nothing keeps its parts alive. */
  final protected def release(): Unit =
    if masks == 0 then closeInterruptGate()
    stack = FiberStack.empty
    this.executionThread = null.asInstanceOf[ExecutionThread]
    if registryEntry ne null then runtime.scheduler.fiberRegistry.remove(registryEntry.nn)

  // ---- resuming, by the thread that has ended the wait and so owns the fiber ----

  /** Queues this suspended fiber; `waiter` has its result. The fiber goes to the shard of the
    * worker that calls this method. From another thread, such as the timer's, it goes to the shard
    * where it ran last: otherwise such a thread would send all the fibers that it wakes to one
    * shard.
    */
  final private[fiber] def resume(waiter: Waiter): Unit =
    pending = waiter
    runtime.scheduler.submit(this, ExecutionThread.shardHere(otherwise = waiter.leftShard.toInt))

  /** As `resume`, on the thread of the fiber `waker`, whose preferred shard gets this fiber. */
  final private[fiber] def resumeFrom(waiter: Waiter, waker: TaskFiber): Unit =
    pending = waiter
    waker.submit(this)

  /** As `resume`, from a slice of the fiber `runner` that is about to return: its thread runs this
    * fiber next.
    */
  final private[weir] def resumeAfter(waiter: Waiter, runner: TaskFiber): Unit =
    pending = waiter
    runner.handOver(this)

  // ---- other jobs ----

  /** Makes a new fiber that runs `body`, and queues it. */
  final private[weir] def fork(body: Task[Any], isReported: Boolean = false): TaskFiber =
    val child = TaskFiber(runtime, body)
    child.locals = localsForChild
    child.context = context
    child.isApart = RunsApart.fromItsBegin(body, context)
    child.isReported = isReported
    child.origin = Origin.ofStarter(topFrame)
    submit(child)
    child

  /** Queues `job`. */
  final private[weir] def submit(job: Job): Unit =
    runtime.scheduler.submit(job, executionThread.preferredShard)

  /** Returns true, once, if this fiber's thread has replaced a worker that is blocked: see
    * `Scheduler.spawn`.
    */
  final private[weir] def maySpawn(): Boolean =
    executionThread.takeReplacing() && runtime.scheduler.spawns

  /** See `Scheduler.spawn`. */
  final private[weir] def spawn(job: Job): Unit =
    runtime.scheduler.spawn(job, executionThread.preferredShard)

  /** Runs `job` on this fiber's thread once the fiber has left it, or queues the job. The fiber
    * must be about to suspend or end. In direct style the job is queued, since the fiber would park
    * its thread before that ran the job.
    */
  final private[weir] def handOver(job: Job): Unit =
    if inDirect then submit(job) else executionThread.handOver(job)

  /** Returns the shard of this fiber's thread. */
  final private[weir] def preferredShard: Int = executionThread.preferredShard

  /** Returns true on a platform thread that has called `runSync`: it occupies no carrier. */
  final private[weir] def isOnCallingThread: Boolean = !executionThread.pooled

  /** Keeps the context of the thread, before others can see this fiber. */
  private def saveContext(): Unit = if runtime.hook ne null then locals = localsForChild

private[weir] object FiberStack:
  private val empty: Array[Node | Null] = new Array[Node | Null](0)
