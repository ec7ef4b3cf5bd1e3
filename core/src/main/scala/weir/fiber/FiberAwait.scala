package weir.fiber

import weir.{Task, WeirRuntime}

/** The part of a fiber that runs plain code which awaits tasks: `DirectCode`, and `await`, which
  * runs a task in place.
  *
  * `await` runs the task on top of the same stack, from the code that calls it. There the fiber
  * cannot leave its thread, so a wait parks the thread.
  */
private[weir] abstract class FiberAwait(runtime: WeirRuntime, body: Task[Any])
    extends FiberSlices(runtime, body):
  this: TaskFiber =>

  // owner only
  /** The error of a `loop` that has returned `TaskFiber.Failed`. */
  final protected var failure: Throwable | Null = null

  /** The error that `await`, or masked code, threw last. It is the code's own error and not the
    * effect of a cancel, even of a cancel that was requested since.
    */
  final private[weir] var thrown: Throwable | Null = null

  /** The interpreter: see `TaskFiber`. */
  protected def loop(first: Task[Any] | Null, resumed: Waiter | Null, base: Int): Any

  /** Runs `task` in place, from the code of a `DirectCode`. Returns its value, or throws its error.
    *
    * **Waits** by parking this thread. **Cancelled**: throws `CancelSignal`, after the finalizers.
    */
  final def await[A](task: Task[A]): A =
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
  final private[weir] def failedInPlace(error: Throwable): Throwable =
    if isCancel(error) then awaitInLoop(CancelSelf)
    thrown = error
    error

  private def awaitInLoop[A](task: Task[A]): A =
    val height = size
    val masksBefore = masks
    val maskBefore = innermostMask
    thrown = null // an error that the code has caught, and throws again later, is its own
    val result =
      try
        this.loop(
          if shouldCancel then CancelSelf else RunsApart.atContext(this, task),
          null,
          height
        )
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
  final def checkpoint(): Unit =
    budget -= 1
    if budget <= 0 || cancelRequested then
      if budget <= 0 && isSliceOver then
        budget = executionThread.beginSlice()
        stayOnThread()
      endIfCanceled()

  /** Checks for a cancel. **Cancelled**: throws `CancelSignal`. */
  final private[weir] def endIfCanceled(): Unit = if shouldCancel then await(CancelSelf)

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
  final protected def runDirect(direct: DirectCode[Any]): Any =
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
