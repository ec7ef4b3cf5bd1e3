package weir.fiber

import scala.annotation.switch
import weir.runtime.{ExecutionThread, Registered}
import weir.{Outcome, Task, WeirRuntime}

/** A fiber: the interpreter of instructions.
  *
  * Cancellation unwinds the stack and runs the finalizers that it finds. The interpreter checks for
  * it before all code of the user except the functions of `map`. It does not check at the end of a
  * mask, or before finalizers and masks are in place. So once a fiber is started, a cancel always
  * runs the finalizers at the head of its body.
  *
  * Plain code of a `DirectCode` awaits tasks in place: `await` calls the interpreter again, on top
  * of the same stack. There the fiber cannot leave its thread, so a wait parks the thread.
  *
  * `FiberCore` has the state and the cancel, `FiberStack` the stack and the slices. This is the
  * only class that is instantiated, so no call between the three is virtual.
  */
private[weir] final class TaskFiber(runtime: WeirRuntime, body: Task[Any])
    extends FiberStack(runtime, body),
      Registered:

  // owner only
  /** The first function of this fiber's body, for traces, or the runner that it is. If its body has
    * no function, the class of the function with which its starter continues; null for none.
    */
  private[weir] var origin: AnyRef | Null = null

  /** The result of a `Frame` that has ended: see `Frame`. */
  private[weir] var frameResult: Any = null

  /** The error of a `loop` that has returned `TaskFiber.Failed`. */
  private var failure: Throwable | Null = null

  /** The error that `await`, or masked code, threw last. It is the code's own error and not the
    * effect of a cancel, even of a cancel that was requested since.
    */
  private[weir] var thrown: Throwable | Null = null

  def registeredFibers: Iterator[TaskFiber] = Iterator.single(this)

  // ---- slices ----

  def runSlice(executionThread: ExecutionThread): Unit =
    this.executionThread = executionThread
    if (context eq null) || !isSent then
      executionThread.running = this
      budget = executionThread.beginSlice()
      val from = pending.nn
      pending = null
      if runtime.hook ne null then adopt(locals)
      if masks == 0 then openInterruptGate()
      val result = from match
        case waiter: Waiter => loop(null, waiter, 0)
        case first =>
          val task = first.asInstanceOf[Task[Any]]
          if !isBegun then
            isBegun = true
            executionThread.countBegun()
            val own = Origin.of(task)
            if own ne null then origin = own
          task match
            case begins: BeginFrame[?] if !executionThread.isCaller => beginFrame(begins)
            case _ => loop(task, null, 0) // first on a caller's stack, which may end anywhere
      if result.asInstanceOf[AnyRef] ne TaskFiber.Suspended then finish(result, executionThread)

  private def finish(result: Any, on: ExecutionThread): Unit =
    // A callback that will never be called may keep this fiber, and a runner may keep the whole of
    // its group.
    origin = null
    release()
    end(
      if result.asInstanceOf[AnyRef] eq TaskFiber.Failed then
        on.countFailed()
        Outcome.Failed(failure.nn)
      else if result.asInstanceOf[AnyRef] eq TaskFiber.Canceled then
        on.countCanceled()
        Outcome.Canceled
      else
        on.countSucceeded()
        Outcome.Succeeded(result)
    )

  /** Runs a slice that begins with a frame, whose children may block in place. The slice runs
    * without the JVM frame of `loop` under the children, which is the largest. Returns as `loop`.
    * `Blocking`.
    */
  private def beginFrame(task: BeginFrame[?]): Any =
    val next =
      try
        if task.tag == Tag.BeginFrame && shouldCancel then CancelSelf
        else
          beginInterruptible()
          task.begin(this).start(this)
      catch
        case error: Throwable => failedIn(task, error)
    // A frame stays on the stack if the first child is null, which counts as a child with the
    // result null.
    if (next eq null) && size == 0 then takeFrameResult() else loop(next, null, 0)

  private def takeFrameResult(): Any =
    val result = frameResult
    frameResult = null
    result

  // ---- the interpreter ----

  /** Runs until the stack is down to `base` again.
    *
    * Starts with `first`, or with the result of `resumed`. Returns a value, `Failed` (the error is
    * in `failure`), `Canceled` (the finalizers above `base` have run), or `Suspended`: then this
    * thread does not own the fiber any more.
    */
  private def loop(first: Task[Any] | Null, resumed: Waiter | Null, base: Int): Any =
    var current: Task[Any] | Null = first
    var waiter: Waiter | Null = resumed
    var value: Any = null
    var bare: Mask | Null = null // a mask that is on and has no frame
    var overflows = 0 // of the JVM stack, by unwinding, in a row
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
              case Tag.Mapped =>
                if shouldCancel then interruptAgain() // its function should not block, but might
                value = frame.asInstanceOf[Mapped[Any, Any]].f(value)
              case Tag.FlatMap =>
                if shouldCancel then current = CancelSelf
                else current = frame.asInstanceOf[FlatMap[Any, Any]].f(value)
              case Tag.Attempt => value = Right(value)
              case Tag.Handle => ()
              case Tag.OnCancel => ()
              // No check for a cancel here, nor at the end of a poll: the value may be the only
              // reference to what was taken.
              case Tag.RemoveMask => endMask(frame.asInstanceOf[Mask])
              case Tag.Unmasked =>
                // Closing the gate and opening it again at once would be half the cost of a masked
                // region. `MaskedPolled`
                val mask = frame.asInstanceOf[Unmasked[Any]].mask
                if isOnTop(mask, base) then pop(): Unit
                else restoreMask(mask)
              case Tag.Frame | Tag.HandlingFrame =>
                beginInterruptible()
                // Here, since children that are instructions, such as `Start`, take no budget.
                if outOfBudget then
                  push(frame)
                  current = Pure(value)
                  if yieldSlice(current.nn, isCede = false, base) then return TaskFiber.Suspended
                else
                  current = frame.asInstanceOf[Frame].step(this, value)
                  if current eq null then value = takeFrameResult()
              case Tag.Unwind =>
                current = unwindCanceled(base)
                if current eq null then return TaskFiber.Canceled
          else
            val task = current.nn
            (task.tag: @switch) match
              case Tag.Pure =>
                value = task.asInstanceOf[Pure[Any]].value
                current = null

              case Tag.Fail =>
                current = unwindFailed(task.asInstanceOf[Fail].error, base)
                if current eq null then return TaskFiber.Failed

              case Tag.Delay =>
                if shouldCancel then current = CancelSelf
                else if outOfBudget then
                  if yieldSlice(task, isCede = false, base) then return TaskFiber.Suspended
                else
                  beginInterruptible()
                  value = task.asInstanceOf[Delay[Any]].run()
                  current = null

              case Tag.Uninterruptible =>
                if shouldCancel then current = CancelSelf
                else if outOfBudget then
                  if yieldSlice(task, isCede = false, base) then return TaskFiber.Suspended
                else
                  beginUninterruptible()
                  value = task.asInstanceOf[Uninterruptible[Any]].thunk()
                  current = null

              case Tag.Defer =>
                if shouldCancel then current = CancelSelf
                else if outOfBudget then
                  if yieldSlice(task, isCede = false, base) then return TaskFiber.Suspended
                else
                  beginInterruptible()
                  current = task.asInstanceOf[Defer[Any]].thunk()

              case Tag.Mapped =>
                val map = task.asInstanceOf[Mapped[Any, Any]]
                val source = map.source
                if source.tag == Tag.Pure && mayGoOn then
                  value = map.f(source.asInstanceOf[Pure[Any]].value)
                  current = null
                else if source.tag == Tag.Delay && mayGoOn then
                  beginInterruptible()
                  value = source.asInstanceOf[Delay[Any]].run()
                  if shouldCancel then interruptAgain() // as at its frame
                  value = map.f(value)
                  current = null
                else if source.tag == Tag.Uninterruptible && mayGoOn then
                  beginUninterruptible()
                  value = map.f(source.asInstanceOf[Uninterruptible[Any]].thunk())
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
                  beginInterruptible()
                  value = source.asInstanceOf[Delay[Any]].run()
                  current = if shouldCancel then CancelSelf else flatMap.f(value)
                else if source.tag == Tag.Uninterruptible && mayGoOn then
                  beginUninterruptible()
                  value = source.asInstanceOf[Uninterruptible[Any]].thunk()
                  current = if shouldCancel then CancelSelf else flatMap.f(value)
                else if source.tag == Tag.Cede && cedesInPlace() then
                  current = if shouldCancel then CancelSelf else flatMap.f(())
                else if outOfBudget then
                  if yieldSlice(task, isCede = false, base) then return TaskFiber.Suspended
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
                      if !suspendOn(wait, base) then return TaskFiber.Suspended
                      waiter = wait
                    case result =>
                      value = result
                      current = null

              case Tag.Cede =>
                if shouldCancel then current = CancelSelf
                else if yieldSlice(Task.unit, isCede = true, base) then return TaskFiber.Suspended
                else
                  value = ()
                  current = null

              case Tag.Leave =>
                leaveThread(task.asInstanceOf[Leave[Any]].next)
                return TaskFiber.Suspended

              case Tag.Start =>
                if shouldCancel then current = CancelSelf
                else
                  val start = task.asInstanceOf[Start[Any]]
                  value = fork(start.body, start.isReported)
                  current = null

              case Tag.Canceled =>
                cancelRequested = true
                if masks == 0 then
                  addMask() // for good: the fiber only unwinds from here
                  finalizing = true
                  current = unwindCanceled(base)
                  if current eq null then return TaskFiber.Canceled
                else
                  value = ()
                  current = null

              case Tag.Uncancelable =>
                // A body that is plain code, or begins with plain code and then is ready, runs in
                // place, under a mask without a frame. If it throws, the catch removes the mask.
                val mask = addNewMask()
                bare = mask
                var next = task.asInstanceOf[Uncancelable[Any]].body(mask)
                var isDone = false
                if !outOfBudget then
                  if isPlainCode(next) then
                    current = next // a trace names this if it throws
                    value = runMasked(next)
                    isDone = true
                  else if next.tag == Tag.FlatMap then
                    val flatMap = next.asInstanceOf[FlatMap[Any, Any]]
                    if isPlainCode(flatMap.source) then
                      current = flatMap
                      next = flatMap.f(runMasked(flatMap.source))
                  if next.tag == Tag.Pure then
                    value = next.asInstanceOf[Pure[Any]].value
                    isDone = true
                bare = null
                if isDone then
                  endMask(mask)
                  current = null
                else
                  pushMask(mask)
                  current = next

              case Tag.Unmasked =>
                val unmasked = task.asInstanceOf[Unmasked[Any]]
                val mask = unmasked.mask
                current = unmasked.source
                // Not the innermost if there is a mask inside of it, even one that is removed
                // already. The depth shows masks that have no `Mask`.
                if (mask eq innermostMask) && mask.depth == masks && !finalizing then
                  innermostMask = mask.outer
                  removeMask()
                  push(unmasked)

              case Tag.DirectCode =>
                val direct = task.asInstanceOf[DirectCode[Any]]
                if shouldCancel && !direct.isBegun then current = CancelSelf
                else if base == 0 && isForWorker(direct) && movesToWorker(direct)
                then return TaskFiber.Suspended
                else if base == 0 && (context ne null) && RunsApart.leaves(this, direct) then
                  current = RunsApart.start(this, direct)
                else
                  beginInterruptible()
                  value = runDirect(direct)
                  current = null
                  if value.isInstanceOf[GoesOn] then current = value.asInstanceOf[GoesOn]
                  else if value.asInstanceOf[AnyRef] eq CancelSignal then
                    current = unwindCanceled(base)
                    if current eq null then return TaskFiber.Canceled

              case Tag.BeginFrame | Tag.BeginFrameMasked =>
                if task.tag == Tag.BeginFrame && shouldCancel then current = CancelSelf
                else
                  beginInterruptible()
                  current = task.asInstanceOf[BeginFrame[Any]].begin(this).start(this)
                  if current eq null then value = takeFrameResult()
      catch
        case error: Throwable =>
          waiter = null
          if error.isInstanceOf[StackOverflowError] && isUnwinding(current) then
            overflows += 1
            if base == 0 && isOnCallersStack &&
              movesToWorker(if isCancel(error) then CancelSelf else Fail(error))
            then return TaskFiber.Suspended
            if base > 0 && overflows == TaskFiber.overflowsInARow then throw error
          else overflows = 0
          current = failedIn(current, error)
          if bare ne null then // only now: the error was thrown masked
            endMask(bare.nn)
            bare = null
    null

  /** Returns the instruction that follows an error which `current` has thrown. */
  private def failedIn(current: Task[Any] | Null, error: Throwable): Task[Any] =
    if isCancel(error) && (error ne thrown) then CancelSelf
    else
      runtime.errorTraces.add(error, this, current)
      thrown = null
      Fail(error)

  /** Returns true if a calling thread leaves `direct` to a worker. A borrowed thread leaves all
    * such code, since it may park.
    */
  private def isForWorker(direct: DirectCode[?]): Boolean =
    executionThread.isBorrowed || isOnCallingThread && direct.isForWorker

  private def isPlainCode(task: Task[Any]): Boolean =
    task.tag == Tag.Delay || task.tag == Tag.Uninterruptible

  /** Runs plain code. Under a mask, the two kinds do not differ. */
  private def runMasked(plain: Task[Any]): Any = plain match
    case delay: Delay[?] => delay.run()
    case other => other.asInstanceOf[Uninterruptible[Any]].thunk()

  private def abandoned(wait: Waiter): Task[Unit] | Null =
    wait.abandon()
    wait.cancelHook

  private def isUnwinding(current: Task[Any] | Null): Boolean =
    (current ne null) && (current.tag == Tag.Fail || current.tag == Tag.Canceled)

  /** Returns true on the thread of a caller of `runSync`, which may have left hardly any of its
    * stack.
    */
  private def isOnCallersStack: Boolean =
    (executionThread ne null) && executionThread.isCaller

  // ---- unwinding ----

  /** Pops frames until one handles the error. Returns null at `base`: none has. */
  private def unwindFailed(error: Throwable, base: Int): Task[Any] | Null =
    runtime.errorTraces.add(error, this, null)
    while size > base do
      val frame = pop()
      frame.tag match
        case Tag.Attempt => return Pure(Left(error))
        case Tag.Handle => return Defer(() => frame.asInstanceOf[Handle[Any]].f(error))
        case Tag.RemoveMask => endMask(frame.asInstanceOf[Mask])
        case Tag.Unmasked => restoreMask(frame.asInstanceOf[Unmasked[Any]].mask)
        case Tag.Unwind =>
          push(frame) // first: printing calls the error's own methods, which may throw
          runtime.report("a finalizer of a cancelled fiber", error)
          return Task.unit
        case Tag.HandlingFrame =>
          val next = frame.asInstanceOf[Frame].failed(this, error)
          return if next eq null then Pure(takeFrameResult()) else next
        case _ => ()
    failure = error
    null

  /** Pops frames until one is a finalizer, and returns that. Returns null at `base`: all have run.
    */
  private def unwindCanceled(base: Int): Task[Any] | Null =
    while size > base do
      val frame = pop()
      frame.tag match
        case Tag.OnCancel =>
          push(ContinueUnwinding)
          return frame.asInstanceOf[OnCancel[Any]].finalizer
        case Tag.HandlingFrame =>
          val finalizer = frame.asInstanceOf[Frame].finalizer(this)
          if finalizer ne null then
            push(ContinueUnwinding)
            return finalizer
          frame.asInstanceOf[Frame].canceled(this)
        case _ => ()
    null

  // ---- plain code that awaits ----

  /** Runs `task` in place, from the code of a `DirectCode`. Returns its value, or throws its error.
    *
    * **Waits** by parking this thread. **Cancelled**: throws `CancelSignal`, after the finalizers.
    */
  def await[A](task: Task[A]): A =
    try awaitResult(task)
    finally
      beginInterruptible() // the code that goes on
      // The task may have swallowed the interrupt that the code after it needs.
      if shouldCancel then interruptAgain()

  private def awaitResult[A](task: Task[A]): A = task.tag match
    case Tag.Pure => task.asInstanceOf[Pure[A]].value
    case Tag.Delay if !isApart && mayGoOn =>
      try task.asInstanceOf[Delay[A]].run().asInstanceOf[A]
      catch case error: Throwable => throw failedInPlace(error)
    case _ => awaitInLoop(task)

  /** Returns the error to throw, after a thunk has thrown `error` without the interpreter.
    * **Cancelled**: throws `CancelSignal`.
    */
  private[weir] def failedInPlace(error: Throwable): Throwable =
    if isCancel(error) then awaitInLoop(CancelSelf)
    thrown = error
    error

  private def awaitInLoop[A](task: Task[A]): A =
    val height = size
    val masksBefore = masks
    val maskBefore = innermostMask
    thrown = null // an error that the code has caught, and throws again later, is its own
    val result =
      try loop(if shouldCancel then CancelSelf else RunsApart.atContext(this, task), null, height)
      catch
        case error: StackOverflowError =>
          dropTo(height, masksBefore, maskBefore)
          throw error
    result.asInstanceOf[AnyRef] match
      case TaskFiber.Failed =>
        val error = failure.nn
        failure = null
        thrown = error
        throw error
      case TaskFiber.Canceled => throw CancelSignal
      case _ => result.asInstanceOf[A]

  /** Must be called now and then by loops of plain code: yields if that is due.
    *
    * **Cancelled**: throws `CancelSignal`.
    */
  def checkpoint(): Unit =
    budget -= 1
    if budget <= 0 || cancelRequested then
      if budget <= 0 && isSliceOver then
        budget = executionThread.beginSlice()
        stayOnThread()
      endIfCanceled()

  /** Checks for a cancel. **Cancelled**: throws `CancelSignal`. */
  private[weir] def endIfCanceled(): Unit = if shouldCancel then await(CancelSelf)

  /** Runs `body` with cancellation masked. It is for code of a `DirectCode`. */
  inline def masked[A](inline body: A): A =
    addMask()
    try body
    catch
      case error: Throwable =>
        thrown = error
        throw error
    finally removeMask()

  /** Runs the body and returns its value, or `CancelSignal` if the fiber was cancelled in it,
    * whatever the body has done with the signal.
    */
  private def runDirect(direct: DirectCode[Any]): Any =
    val wasFinalizing = finalizing
    val wasInDirect = inDirect
    val height = size
    val masksBefore = masks
    val maskBefore = innermostMask
    push(direct) // so that every await inside has a base above 0; and traces look into it
    inDirect = true
    try
      val value = direct.body(this)
      if finalizing && !wasFinalizing then CancelSignal else value
    catch
      case error: Throwable =>
        if !finalizing || wasFinalizing then throw error
        if !CancelSignal.isIn(error) then
          runtime.report("the direct code of a fiber that was cancelled", error)
        CancelSignal
    finally
      inDirect = wasInDirect
      dropTo(height, masksBefore, maskBefore)

private[weir] object TaskFiber:
  /** The number of times that unwinding may overflow the stack before an await leaves it to the
    * code that called the await. It is not 1, because the functions that make finalizers may
    * overflow the stack too.
    */
  private inline val overflowsInARow = 8

  // what `loop` returns besides a value
  private[fiber] object Suspended
  private[fiber] object Failed
  private[fiber] object Canceled
