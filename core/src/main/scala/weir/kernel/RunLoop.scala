package weir.kernel

import java.util.concurrent.locks.LockSupport
import scala.annotation.switch
import scala.util.control.ControlThrowable
import weir.runtime.{Host, Job}
import weir.sync.WaitList
import weir.trace.{ErrorTrace, Roster}
import weir.{Fiber, Outcome, Runtime, Task}

/** A fiber: the interpreter of instructions with its own continuation stack.
  *
  *   - **The stack** holds nodes: instructions that wait for their source's result, and loops. It is the
  *     whole of a suspended fiber; nothing of it is on the JVM's stack.
  *   - **Awaiting**: `await` runs a task on top of the same stack, from plain code that the fiber runs
  *     (`Direct`). There the fiber cannot leave its thread, so a wait parks the thread.
  *   - **Cancellation** unwinds the stack and runs the finalizers that it finds. It is looked for before
  *     every piece of user's code but the functions of `map`, not at the end of a mask, and not before finalizers
  *     and masks are in place: so once a fiber is started, the finalizers at the head of its body run, whenever
  *     it is cancelled.
  */
private[weir] final class RunLoop(runtime: Runtime, body: Task[Any])
    extends FiberCore(runtime),
      Fiber[Any]:

  // owner only
  private var stack: Array[Node | Null] = RunLoop.noStack
  private var size = 0

  /** Instructions that the present slice may run before it asks its host for more. */
  private[weir] var budget = 0
  private var failure: Throwable | Null = null

  /** The first function of this fiber's body, for traces, or the runner that it is; null where there is none. */
  private[weir] var origin: AnyRef | Null = null

  /** Where this fiber stands among those that have waited. */
  private var place: Roster.Place | Null = null

  /** The error that `await`, or masked code, threw last. It is not the work of a cancel, not even where one has been asked for since. */
  private[weir] var thrown: Throwable | Null = null

  /** The innermost mask that has not been taken off, if it is one of `uncancelable`. */
  private var innermost: FiberPoll | Null = null

  /** True inside of the body of a `Direct`. */
  private var inDirect = false

  /** Where the next slice begins: a task, or the waiter that has been completed or cancelled. */
  private var pending: AnyRef | Null = body

  /** Who is to be told, once, when this fiber is about to wait or to give its thread to others: the frame at the bottom, or nobody. */
  private[weir] var staying: Loop | Null = null

  /** What a `Loop` that has ended leaves behind. */
  private[weir] var loopResult: Any = null

  // ---- the fiber as others see it ----

  def join: Task[Outcome[Any]] = joining(handles = true)

  private def joining(handles: Boolean): Task[Outcome[Any]] = new Suspend[Outcome[Any]]:
    def begin(fiber: RunLoop): Any =
      val ended = if handles then handledOutcome else outcome
      if ended ne null then
        Joiners.pass(ended, fiber, RunLoop.this)
        ended
      else register((list, lock) => WaitList.Entry(fiber, list, lock))

  def cancel: Task[Unit] =
    val request = new Suspend[Boolean]:
      def begin(fiber: RunLoop): Any =
        val own = fiber eq RunLoop.this
        if !own then requestCancel()
        own
    Uncancelable(poll =>
      request.flatMap(own => if own then poll(CancelSelf) else joining(handles = false).void)
    )

  // ---- slices ----

  def runSlice(host: Host): Unit =
    this.host = host
    host.running = this
    budget = host.beginSlice()
    val from = pending.nn
    pending = null
    if runtime.hook ne null then adopt(locals)
    if masks == 0 then openGate()
    val result = from match
      case waiter: Waiter => loop(null, waiter, 0)
      case first =>
        val task = first.asInstanceOf[Task[Any]]
        if origin eq null then origin = Origin.of(task)
        task match
          case enter: Enter[?] if !host.isCaller => enterLoop(enter)
          case _ => loop(task, null, 0) // first on a caller's stack, which may end anywhere
    if result.asInstanceOf[AnyRef] ne RunLoop.Suspended then finish(result)

  private def finish(result: Any): Unit =
    if masks == 0 then closeGate()
    stack = RunLoop.noStack
    // A callback that nobody calls any more may keep this fiber, and a runner the whole of its group.
    origin = null
    this.host = null.asInstanceOf[Host]
    if place ne null then runtime.scheduler.roster.leave(place.nn)
    end(
      if result.asInstanceOf[AnyRef] eq RunLoop.Failed then Outcome.Failed(failure.nn)
      else if result.asInstanceOf[AnyRef] eq RunLoop.Canceled then Outcome.Canceled
      else Outcome.Succeeded(result)
    )

  /** A slice that begins with a loop, whose children may block in place: without the frame of `loop` under them, which is the largest.
    * Returns as `loop`. `Blocking`.
    */
  private def enterLoop(enter: Enter[?]): Any =
    val next =
      try
        if enter.tag == Tag.Enter && shouldCancel then CancelSelf
        else enter.begin(this).start(this)
      catch
        case error: Throwable => failedIn(enter, error)
    // A frame is left where the first child is null, which counts as one whose result is null.
    if (next eq null) && size == 0 then takeLoopResult() else loop(next, null, 0)

  override def need: Int = pending match
    case first: Enter[?] => first.need
    case _ => Job.Now

  /** Queues this suspended fiber; `waiter` says how its wait has ended. The caller owns the fiber. */
  private[kernel] def resume(waiter: Waiter): Unit =
    pending = waiter
    runtime.scheduler.submit(this)

  /** As `resume`, on the thread of the fiber `waker`, to whose shard this one goes. */
  private[kernel] def resumeFrom(waiter: Waiter, waker: RunLoop): Unit =
    pending = waiter
    waker.submit(this)

  /** As `resume`, from a job of the fiber `runner` that is about to return: its thread goes on with this fiber. */
  private[weir] def resumeAfter(waiter: Waiter, runner: RunLoop): Unit =
    pending = waiter
    runner.handOver(this)

  /** A new fiber that runs `body`, queued. */
  private[weir] def fork(body: Task[Any], isReported: Boolean = false): RunLoop =
    val child = RunLoop(runtime, body)
    child.locals = heritage
    child.isReported = isReported
    submit(child)
    child

  // ---- locals ----

  /** What a fiber that is made by this one now begins with. */
  private[weir] def heritage: Locals | Null =
    val hook = runtime.hook
    if hook eq null then locals else Locals.updated(locals, hook, hook.capture())

  /** Goes on with `locals`: those of another fiber, whose work this one does in place, or its own on another thread. */
  private[weir] def adopt(locals: Locals | Null): Unit =
    this.locals = locals
    val hook = runtime.hook
    if hook ne null then hook.install(Locals.valueIn(locals, hook, null).asInstanceOf[AnyRef])

  /** Keeps what the thread carries, before others can see this fiber. */
  private def leaveThread(): Unit = if runtime.hook ne null then locals = heritage

  // ---- jobs ----

  /** Queues `job`. */
  private[weir] def submit(job: Job): Unit = runtime.scheduler.submit(job, host.home)

  /** True, once, if this fiber's thread has come for one that is blocked: see `Scheduler.spawn`. */
  private[weir] def maySpawn(): Boolean = host.takeReplacing() && runtime.scheduler.spawns

  /** See `Scheduler.spawn`. */
  private[weir] def spawn(job: Job): Unit = runtime.scheduler.spawn(job, host.home)

  /** The shard of this fiber's thread: see `Host.home`. */
  private[weir] def home: Int = host.home

  /** True if this fiber has not left the thread of its `runSync`, which holds no carrier, since it began. */
  private[weir] def isOnOwnThread: Boolean = !host.pooled

  /** Runs `job` on this fiber's thread as soon as the fiber has left it, or queues it. The fiber must be about to
    * suspend or end. In direct style it would park its thread with the job in hand.
    */
  private[weir] def handOver(job: Job): Unit =
    if inDirect then submit(job) else host.handOver(job)

  /** Whether a loop may run a child that is ready by itself: there is budget left, and no cancellation. */
  def mayGoOn: Boolean = !outOfBudget && !shouldCancel

  private[weir] def shouldCancel: Boolean = cancelRequested && masks == 0

  /** True if this fiber is being cancelled, so that `error`, which its code has thrown, is the interrupt, or comes too
    * late to count.
    */
  private[weir] def isCancel(error: Throwable): Boolean =
    lookForInterrupt(error)
    shouldCancel

  /** An interrupt of the calling thread that is not the work of a cancel is a cancel. */
  private def lookForInterrupt(error: Throwable | Null): Unit =
    // A cancel asks before it interrupts: so an interrupt that came without having been asked for is from outside.
    if masks == 0 && !cancelRequested && host.takeInterrupt(error) && !cancelRequested then
      host.interruptedFromOutside()
      cancelRequested = true

  // ---- direct style ----

  /** Runs `task` in place, from the code of a `Direct`. Returns its value, or throws its error.
    *
    * '''Waits''' by parking this thread. '''Cancelled''': throws `CancelSignal`, after the finalizers.
    */
  def await[A](task: Task[A]): A =
    try awaitResult(task)
    finally
      // The task may have swallowed the interrupt that the code after it needs.
      if shouldCancel then interruptAgain()

  private def awaitResult[A](task: Task[A]): A = task.tag match
    case Tag.Pure => task.asInstanceOf[Pure[A]].value
    case Tag.Delay if mayGoOn =>
      try task.asInstanceOf[Delay[A]].run().asInstanceOf[A]
      catch
        case error: Throwable =>
          if isCancel(error) then awaitInLoop(CancelSelf)
          thrown = error
          throw error
    case _ => awaitInLoop(task)

  private def awaitInLoop[A](task: Task[A]): A =
    val height = size
    val masksBefore = masks
    val maskBefore = innermost
    thrown = null // what the code has caught and throws again later is its own error
    val result =
      try loop(if shouldCancel then CancelSelf else task, null, height)
      catch
        case error: StackOverflowError =>
          dropTo(height, masksBefore, maskBefore)
          throw error
    result.asInstanceOf[AnyRef] match
      case RunLoop.Failed =>
        val error = failure.nn
        failure = null
        thrown = error
        throw error
      case RunLoop.Canceled => throw CancelSignal
      case _ => result.asInstanceOf[A]

  /** To be called now and then by loops of plain code: gives way where that is due. '''Cancelled''': throws
    * `CancelSignal`.
    */
  def checkpoint(): Unit =
    budget -= 1
    if budget <= 0 || cancelRequested then
      if budget <= 0 && isSliceOver then
        budget = host.beginSlice()
        stayOnThread()
      endIfCanceled()

  /** '''Cancelled''': throws `CancelSignal`. */
  private[weir] def endIfCanceled(): Unit = if shouldCancel then await(CancelSelf)

  /** Runs `body` with cancellation masked. For code of a `Direct`. */
  inline def masked[A](inline body: A): A =
    enterMask()
    try body
    catch
      case error: Throwable =>
        thrown = error
        throw error
    finally leaveMask()

  // ---- masks ----

  private def mask(): FiberPoll =
    val poll = FiberPoll(masks + 1, innermost)
    enterMask()
    poll

  private def pushMask(poll: FiberPoll): Unit =
    innermost = poll
    push(poll)

  /** Takes the mask of `poll` off. */
  private def unmask(poll: FiberPoll): Unit =
    innermost = poll.outer
    leaveMask()

  /** The end of what a poll has unmasked. */
  private def maskAgain(poll: FiberPoll): Unit =
    innermost = poll
    enterMask()

  def enterMask(): Unit =
    if masks == 0 then closeGate()
    masks += 1

  def leaveMask(): Unit =
    // While finalizing one mask stays, also where a cancel has left masked code in the middle.
    if masks > 1 || !finalizing then
      masks -= 1
      if masks == 0 then openGate()

  // ---- the stack ----

  private[weir] def push(frame: Node): Unit =
    if size == stack.length then
      stack = java.util.Arrays.copyOf(stack, if size == 0 then 4 else size * 2)
    stack(size) = frame
    size += 1

  private[weir] def pop(): Node =
    size -= 1
    val frame = stack(size)
    stack(size) = null
    frame.nn

  /** At most `limit` frames, the innermost first. Null where another thread has changed the stack meanwhile. */
  private[weir] def topFrames(limit: Int): IndexedSeq[Node | Null] =
    val frames = stack
    val top = math.min(size, frames.length)
    (1 to math.min(top, limit)).map(i => frames(top - i))

  /** The outermost frame, or null. May be called by another thread, as `topFrames`. */
  private[weir] def bottomFrame: Node | Null =
    val frames = stack
    if frames.length > 0 then frames(0) else null

  // ---- the run loop ----

  /** Runs until the stack is down to `base` again.
    *
    * Starts with `first`, or with the result of `resumed`. Returns a value, `Failed` (the error is in
    * `failure`), `Canceled` (the finalizers above `base` have run), or `Suspended`: then this thread does not
    * own the fiber any more.
    */
  private def loop(first: Task[Any] | Null, resumed: Waiter | Null, base: Int): Any =
    var current: Task[Any] | Null = first
    var waiter: Waiter | Null = resumed
    var value: Any = null
    var entering: FiberPoll | Null = null // a mask that is on and has no frame
    var overflows = 0 // of unwinding, one after the other
    while true do
      try
        while true do
          if waiter ne null then
            val ended = waiter
            waiter = null
            waiting = null
            if ended.isCanceled then
              val hook = abandoned(ended)
              current =
                if hook eq null then CancelSelf else CanceledWait(ended, hook.nn).start(this)
            else if ended.isError then
              current =
                if shouldCancel then CancelSelf else Fail(ended.value.asInstanceOf[Throwable])
            else
              value = ended.value
              current = null

          if current eq null then
            if size == base then return value
            val frame = pop()
            (frame.tag: @switch) match
              case Tag.Map =>
                if shouldCancel then interruptAgain() // its function should not block, but might
                value = frame.asInstanceOf[Map[Any, Any]].f(value)
              case Tag.FlatMap =>
                if shouldCancel then current = CancelSelf
                else current = frame.asInstanceOf[FlatMap[Any, Any]].f(value)
              case Tag.Attempt => value = Right(value)
              case Tag.Handle => ()
              case Tag.OnCancel => ()
              // No look for a cancel here, nor at the end of a poll: the value is the only trace of what has been taken.
              case Tag.LeaveMask => unmask(frame.asInstanceOf[FiberPoll])
              case Tag.Unmasked =>
                // Closing the gate, only to open it again at once, would be half the cost of a masked region. `MaskedPolled`
                val poll = frame.asInstanceOf[Unmasked[Any]].poll
                if size > base && (stack(size - 1) eq poll) then pop(): Unit
                else maskAgain(poll)
              case Tag.Loop | Tag.Claiming =>
                if outOfBudget
                then // children that are instructions, such as starts, take nothing from it
                  push(frame)
                  current = Pure(value)
                  if giveWay(current.nn, asked = false, base) then return RunLoop.Suspended
                else
                  current = frame.asInstanceOf[Loop].step(this, value)
                  if current eq null then value = takeLoopResult()
              case Tag.Unwind =>
                current = unwindCanceled(base)
                if current eq null then return RunLoop.Canceled
          else
            val task = current.nn
            (task.tag: @switch) match
              case Tag.Pure =>
                value = task.asInstanceOf[Pure[Any]].value
                current = null

              case Tag.Fail =>
                current = unwindFailed(task.asInstanceOf[Fail].error, base)
                if current eq null then return RunLoop.Failed

              case Tag.Delay =>
                if shouldCancel then current = CancelSelf
                else if outOfBudget then
                  if giveWay(task, asked = false, base) then return RunLoop.Suspended
                else
                  value = task.asInstanceOf[Delay[Any]].run()
                  current = null

              case Tag.Defer =>
                if shouldCancel then current = CancelSelf
                else if outOfBudget then
                  if giveWay(task, asked = false, base) then return RunLoop.Suspended
                else current = task.asInstanceOf[Defer[Any]].thunk()

              case Tag.Map =>
                val map = task.asInstanceOf[Map[Any, Any]]
                val source = map.source
                if source.tag == Tag.Pure && mayGoOn then
                  value = map.f(source.asInstanceOf[Pure[Any]].value)
                  current = null
                else if source.tag == Tag.Delay && mayGoOn then
                  value = source.asInstanceOf[Delay[Any]].run()
                  if shouldCancel then interruptAgain() // as at its frame
                  value = map.f(value)
                  current = null
                else
                  push(map)
                  current = source

              case Tag.FlatMap =>
                val flatMap = task.asInstanceOf[FlatMap[Any, Any]]
                val source = flatMap.source
                if source.tag == Tag.Pure && mayGoOn then
                  current = flatMap.f(source.asInstanceOf[Pure[Any]].value)
                else if source.tag == Tag.Delay && mayGoOn then
                  value = source.asInstanceOf[Delay[Any]].run()
                  current = if shouldCancel then CancelSelf else flatMap.f(value)
                else if source.tag == Tag.Cede && cedesToNobody() then
                  current = if shouldCancel then CancelSelf else flatMap.f(())
                else if source.tag == Tag.Uncancelable && mayGoOn then
                  // A body that is ready runs in place, under a mask without a frame: the catch takes it off.
                  val poll = mask()
                  entering = poll
                  val made = source.asInstanceOf[Uncancelable[Any]].body(poll)
                  if made.tag == Tag.Delay && !outOfBudget then
                    value = made.asInstanceOf[Delay[Any]].run()
                    entering = null
                    unmask(poll)
                    current = if shouldCancel then CancelSelf else flatMap.f(value)
                  else
                    push(flatMap)
                    pushMask(poll)
                    entering = null
                    current = made
                else if outOfBudget then
                  if giveWay(task, asked = false, base) then return RunLoop.Suspended
                else
                  push(flatMap)
                  current = source

              case Tag.Attempt =>
                push(task)
                current = task.asInstanceOf[Attempt[Any]].source

              case Tag.Handle =>
                push(task)
                current = task.asInstanceOf[Handle[Any]].source

              case Tag.OnCancel =>
                push(task)
                current = task.asInstanceOf[OnCancel[Any]].source

              case Tag.Suspend =>
                if shouldCancel then current = CancelSelf
                else
                  task.asInstanceOf[Suspend[Any]].begin(this) match
                    case wait: Waiter =>
                      if !suspendOn(wait, base) then return RunLoop.Suspended
                      waiter = wait
                    case result =>
                      value = result
                      current = null

              case Tag.Cede =>
                if shouldCancel then current = CancelSelf
                else if giveWay(Task.unit, asked = true, base) then return RunLoop.Suspended
                else
                  value = ()
                  current = null

              case Tag.Start =>
                if shouldCancel then current = CancelSelf
                else
                  val start = task.asInstanceOf[Start[Any]]
                  value = fork(start.body, start.isReported)
                  current = null

              case Tag.Canceled =>
                cancelRequested = true
                if masks == 0 then
                  enterMask() // for good: the fiber only unwinds from here
                  finalizing = true
                  current = unwindCanceled(base)
                  if current eq null then return RunLoop.Canceled
                else
                  value = ()
                  current = null

              case Tag.Uncancelable =>
                val poll = mask()
                pushMask(poll)
                current = task.asInstanceOf[Uncancelable[Any]].body(poll)

              case Tag.Unmasked =>
                val unmasked = task.asInstanceOf[Unmasked[Any]]
                val poll = unmasked.poll
                current = unmasked.source
                // Not the innermost if a mask has been put on inside of it, also where it is taken off already. The depth tells of
                // masks that have no poll.
                if (poll eq innermost) && poll.depth == masks && !finalizing then
                  innermost = poll.outer
                  leaveMask()
                  push(unmasked)

              case Tag.Direct =>
                if shouldCancel then current = CancelSelf
                else
                  value = runDirect(task.asInstanceOf[Direct[Any]])
                  current = null
                  if value.asInstanceOf[AnyRef] eq CancelSignal then
                    current = unwindCanceled(base)
                    if current eq null then return RunLoop.Canceled

              case Tag.Enter | Tag.EnterMasked =>
                if task.tag == Tag.Enter && shouldCancel then current = CancelSelf
                else
                  current = task.asInstanceOf[Enter[Any]].begin(this).start(this)
                  if current eq null then value = takeLoopResult()
      catch
        case error: Throwable =>
          waiter = null
          if error.isInstanceOf[StackOverflowError] && isUnwinding(current) then
            overflows += 1
            if base == 0 && isOnCallersStack then
              goOnElsewhere(error)
              return RunLoop.Suspended
            if base > 0 && overflows == RunLoop.overflowsInARow then throw error
          else overflows = 0
          if entering ne null then
            ErrorTrace.add(error, this, current)
            unmask(entering.nn)
            entering = null
            current = Fail(error)
          else current = failedIn(current, error)
    null

  /** What comes of an error that `current` has thrown. */
  private def failedIn(current: Task[Any] | Null, error: Throwable): Task[Any] =
    if isCancel(error) && (error ne thrown) then CancelSelf
    else
      ErrorTrace.add(error, this, current)
      thrown = null
      Fail(error)

  // ---- where the thread's stack ends ----

  private def isUnwinding(current: Task[Any] | Null): Boolean =
    (current ne null) && (current.tag == Tag.Fail || current.tag == Tag.Canceled)

  /** True on the thread of a caller of `runSync`, who may have left hardly any of its stack to this fiber. */
  private def isOnCallersStack: Boolean = (host ne null) && host.isCaller

  /** Unwinds on a worker, which has a stack of its own: the finalizers need some. */
  private def goOnElsewhere(overflow: Throwable): Unit =
    val task = if isCancel(overflow) then CancelSelf else Fail(overflow)
    if masks == 0 then closeGate()
    leaveThread()
    this.host = null.asInstanceOf[Host]
    pending = task
    runtime.scheduler.submit(this)

  /** Drops the frames that a loop of an await has had no stack left to unwind, with their masks. */
  private def dropTo(height: Int, masksBefore: Int, maskBefore: FiberPoll | Null): Unit =
    while size > height do pop(): Unit
    innermost = maskBefore
    while masks > masksBefore && !finalizing do leaveMask()
    while masks < masksBefore do enterMask()

  private def takeLoopResult(): Any =
    val result = loopResult
    loopResult = null
    result

  private def outOfBudget: Boolean =
    budget -= 1
    budget <= 0 && isSliceOver

  private def isSliceOver: Boolean = renewBudget() == 0

  /** The budget, asked for anew; 0 at the end of the slice. */
  private[weir] def renewBudget(): Int =
    budget = host.moreCredit()
    budget

  /** Gives way to queued work, to go on with `task` afterwards. True if this thread does not own the fiber any
    * more; false if there is nothing to give way to, if the fiber cannot leave its thread, or if it need not:
    * on the own thread of a caller of `runSync` it holds no carrier.
    */
  private def giveWay(task: Task[Any], asked: Boolean, base: Int): Boolean =
    budget = host.beginSlice()
    if base == 0 && host.pooled && runtime.scheduler.mayHaveWork(host.home) then
      val host = this.host
      leaves()
      if masks == 0 then closeGate()
      leaveThread()
      this.host = null.asInstanceOf[Host]
      pending = task
      runtime.scheduler.submit(this, host.home)
      if !asked then host.yieldIfDue(inSlice = false)
      true
    else
      if asked then stayAfterCede() else stayOnThread()
      false

  /** True if the fiber has ceded, and goes on, as there is nothing to give way to. */
  private def cedesToNobody(): Boolean =
    mayGoOn && !(host.pooled && runtime.scheduler.mayHaveWork(host.home)) && {
      budget = host.beginSlice()
      stayAfterCede()
      true
    }

  /** What is left of `child` for a loop that runs it in place: all of it, unless it cedes first and that is done with. */
  private[weir] def pastCede(child: Task[Any]): Task[Any] =
    if child.tag == Tag.FlatMap then
      val flatMap = child.asInstanceOf[FlatMap[Any, Any]]
      if flatMap.source.tag == Tag.Cede && cedesToNobody() then
        if shouldCancel then CancelSelf else flatMap.f(())
      else child
    else child

  private def stayAfterCede(): Unit =
    lookForInterrupt(null)
    host.yieldNowAndThen()

  /** At the end of a slice that goes on where it is. */
  private def stayOnThread(): Unit =
    lookForInterrupt(null)
    host.yieldIfDue(inSlice = true)

  private def leaves(): Unit =
    val frame = staying
    if frame ne null then
      staying = null
      frame.leaves(this)

  /** True if the wait has ended and this thread goes on with the fiber; false if it has lost the fiber. */
  private def suspendOn(wait: Waiter, base: Int): Boolean =
    leaves()
    val unmasked = masks == 0
    if unmasked then closeGate()
    val direct = base > 0
    val host = this.host
    wait.cancelable = unmasked
    wait.since = host.scheduler.watch.ticks
    if (place eq null) && !direct && !wait.isFound then
      place = runtime.scheduler.roster.enter(this, host.home)
    if direct then wait.thread = Thread.currentThread()
    else
      leaveThread()
      this.host = null.asInstanceOf[Host]
    waiting = wait
    val goesOn =
      if !wait.suspend() then
        wait.awaitDone()
        true
      // Whoever cancels between the last look and the CAS finds the wait not suspended yet, so look again.
      else if unmasked && cancelRequested && wait.takeForCancel() then
        // This slice does not end yet. The first child of a group would wait for what the hook of the cancel does.
        host.queueHandedOver()
        true
      else if direct then
        parkUntilEnded(wait)
        true
      else false
    if goesOn then
      this.host = host
      if unmasked then openGate()
    goesOn

  private def parkUntilEnded(wait: Waiter): Unit =
    var interrupted = false
    while wait.isWaiting do
      LockSupport.park(wait)
      // Not by a cancel: the gate is closed. The caller of a runSync is cancelled by it.
      if host.takeInterrupt(null) then
        host.interruptedFromOutside()
        requestCancel()
      else if Thread.interrupted() then interrupted = true
    if interrupted then Thread.currentThread().interrupt()

  private def abandoned(wait: Waiter): Task[Unit] | Null =
    wait.abandon()
    wait.cancelHook

  /** The value of the body, or `CancelSignal` if the fiber was cancelled in it, whatever the body has made of that. */
  private def runDirect(direct: Direct[Any]): Any =
    val wasFinalizing = finalizing
    val wasInDirect = inDirect
    val height = size
    val masksBefore = masks
    val maskBefore = innermost
    push(direct) // so that every await inside has a base above 0; and traces look into it
    inDirect = true
    try
      val value = direct.body(this)
      if finalizing && !wasFinalizing then CancelSignal else value
    catch
      case error: Throwable =>
        if !finalizing || wasFinalizing then throw error
        if !CancelSignal.isIn(error) then
          runtime.report("the direct code of a fiber that was canceled", error)
        CancelSignal
    finally
      inDirect = wasInDirect
      dropTo(height, masksBefore, maskBefore)

  /** Pops frames until one handles the error. Null at `base`: nobody has. */
  private def unwindFailed(error: Throwable, base: Int): Task[Any] | Null =
    ErrorTrace.add(error, this, null)
    while size > base do
      val frame = pop()
      frame.tag match
        case Tag.Attempt => return Pure(Left(error))
        case Tag.Handle => return Defer(() => frame.asInstanceOf[Handle[Any]].f(error))
        case Tag.LeaveMask => unmask(frame.asInstanceOf[FiberPoll])
        case Tag.Unmasked => maskAgain(frame.asInstanceOf[Unmasked[Any]].poll)
        case Tag.Unwind =>
          push(frame) // first: printing calls the error's own methods, which may throw
          runtime.report("a finalizer of a canceled fiber", error)
          return Task.unit
        case Tag.Claiming =>
          val next = frame.asInstanceOf[Loop].failed(this, error)
          return if next eq null then Pure(takeLoopResult()) else next
        case _ => ()
    failure = error
    null

  /** Pops frames until one is a finalizer, and returns that. Null at `base`: all have run. */
  private def unwindCanceled(base: Int): Task[Any] | Null =
    while size > base do
      val frame = pop()
      frame.tag match
        case Tag.OnCancel =>
          push(Frames.unwind)
          return frame.asInstanceOf[OnCancel[Any]].finalizer
        case Tag.Claiming =>
          val finalizer = frame.asInstanceOf[Loop].finalizer(this)
          if finalizer ne null then
            push(Frames.unwind)
            return finalizer
          frame.asInstanceOf[Loop].canceled(this)
        case _ => ()
    null

private[weir] object RunLoop:
  private val noStack: Array[Node | Null] = new Array[Node | Null](0)

  /** How often unwinding may overflow the stack before an await leaves it to the code that it is called from. Not at once:
    * the functions that make finalizers may overflow it too.
    */
  private inline val overflowsInARow = 8

  private object Suspended
  private object Failed
  private object Canceled

/** Unwinds plain code of a fiber that was cancelled while it awaited. Neither an `Exception` nor what `NonFatal`, and
  * with it `Try`, would catch, so that ordinary handlers let it pass; the fiber goes on unwinding whatever happens to it.
  */
private[weir] object CancelSignal
    extends ControlThrowable("The fiber was canceled while it awaited."):

  /** True if `error` is the signal, or wraps it. */
  def isIn(error: Throwable): Boolean =
    var cause: Throwable | Null = error
    var left = 100 // causes may go round in a circle
    while (cause ne null) && (cause ne this) && left > 0 do
      cause = cause.getCause
      left -= 1
    cause eq this
