package weir.fiber

import java.lang.invoke.{MethodHandles, VarHandle}
import java.util.concurrent.locks.LockSupport
import scala.annotation.static
import weir.{Outcome, WeirRuntime}

/** The part of a fiber that others see: they cancel it, join it, and read its outcome.
  *
  * README.md in this folder has the protocols.
  */
private[weir] abstract class FiberCore(final val runtime: WeirRuntime) extends InterruptGate:

  // owner only
  /** True if a failure is reported when no one joins the fiber: see `Unhandled`. Written before the
    * fiber is queued.
    */
  final private[fiber] var isReported: Boolean = false

  /** The block of `Task.direct` whose own code runs now; null while the block waits for a task. */
  final private[weir] var block: DirectBlock | Null = null

  /** The values of this fiber's locals, and the context of its thread for `ContextHook`; null for
    * none.
    */
  final private[weir] var locals: Locals | Null = null

  // shared
  /** The present or the latest wait. */
  @volatile final private[fiber] var waiting: Waiter | Null = null

  /** The fiber that a cancel of this one is passed to: that of a `runSync` which this fiber's code
    * waits for, unmasked, or that of an `evalOn` which its plain code awaits.
    */
  @volatile private var nested: FiberCore | Null = null

  /** Null at first, then possibly `Joiners`, then the `Outcome`, or `Unhandled` with the outcome.
    */
  @volatile final private[fiber] var ending: AnyRef | Null = null

  runtime.begun(this)

  /** The name of this fiber in errors and dumps. It is computed on demand. Two fibers may share a
    * name; that is rare.
    */
  final private[weir] def name: String = Integer.toHexString(System.identityHashCode(this))

  /** For a dump: returns the present or the latest wait. */
  final private[weir] def latestWait: Waiter | Null = waiting

  /** For a dump: returns the fiber of a `runSync`, or of an awaited `evalOn`, that this fiber waits
    * for.
    */
  final private[weir] def nestedFiber: FiberCore | Null = nested

  /** Returns the wait in which the fiber is suspended, or null if it is not suspended. */
  final private[weir] def suspendedIn: Waiter | Null =
    val waiter = waiting
    if (waiter ne null) && waiter.isWaiting then waiter else null

  /** Requests cancellation from any thread, and returns at once. */
  final private[weir] def requestCancel(): Unit =
    cancelRequested = true
    val inner = nested
    val waiter = waiting
    if inner ne null then inner.requestCancel()
    else if (waiter ne null) && waiter.takeForCancel() then waiter.wakeUp()
    else interruptIfOpen()

  /** Interrupts once more the plain code that a cancel has interrupted before, and that still runs.
    */
  final private[weir] def interruptCodeOnceMore(): Unit =
    val inner = nested
    if inner ne null then inner.interruptCodeOnceMore() else interruptOnceMore()

  /** Runs `body`, which runs `inner` on this fiber's thread or waits for it. A cancel of this fiber
    * becomes a cancel of `inner`, so that no interrupt hits the masks and finalizers of `inner`.
    */
  final private[weir] def nesting(inner: FiberCore)(body: => Unit): Unit =
    val block = this.block
    this.block = null // the code of `inner` is not the block's
    try
      if isGateClosed then body // masked, or at the fiber's end
      else
        closeInterruptGate()
        beginNesting(inner)
        try body
        finally
          endNesting()
          openInterruptGate()
    finally this.block = block

  /** Makes each cancel of this fiber a cancel of `inner`, until `endNesting`. The interrupt gate
    * must be closed.
    */
  final private[fiber] def beginNesting(inner: FiberCore): Unit =
    nested = inner
    if cancelRequested then
      inner.requestCancel() // pairs with the order of accesses in requestCancel

  final private[fiber] def endNesting(): Unit = nested = null

  /** Returns true if `fiber` is this one, or is nested in it and runs code that this one waits for.
    */
  final private[fiber] def isRunBy(fiber: FiberCore): Boolean =
    (fiber eq this) || {
      val inner = nested
      (inner ne null) && inner.isRunBy(fiber)
    }

  final private[weir] def outcome: Outcome[Any] | Null = ending match
    case outcome: Outcome[?] => outcome
    case unhandled: Unhandled => unhandled.outcome
    case _ => null

  /** As `outcome`, for a caller that handles a failure: the failure is then not reported any more.
    */
  final private[fiber] def handledOutcome: Outcome[Any] | Null = ending match
    case unhandled: Unhandled => unhandled.handled()
    case _ => outcome

  /** Called once, by the owner, as its last act. */
  final private[fiber] def end(outcome: Outcome[Any]): Unit = outcome match
    case failed: Outcome.Failed[Any] if isReported && !cancelRequested =>
      val unhandled = Unhandled(failed, this)
      // Before the outcome is published, unless there are joiners: the program may have waited only
      // for the end of this fiber.
      if ending eq null then unhandled.watch()
      if publish(unhandled, outcome) then unhandled.handled(): Unit else unhandled.watch()
    case _ => publish(outcome, outcome): Unit

  /** Publishes the outcome. Returns true if a joiner that had registered before has got it. */
  private def publish(ended: AnyRef, outcome: Outcome[Any]): Boolean =
    FiberCore.Ending.getAndSet(this, ended) match
      case joiners: Joiners => joiners.wakeAll(outcome)
      case _ => false

  /** Notes in the trace of this fiber's error that the fiber `to` gets it from this one. */
  final private[fiber] def passTrace(outcome: Outcome[Any], to: TaskFiber | Null): Unit =
    outcome match
      case Outcome.Failed(error) => runtime.errorTraces.pass(error, to, from = this)
      case _ => ()

  /** Registers a joiner, which `make` makes, possibly more than once. Returns the outcome if the
    * fiber has ended, or else the joiner, which the end of the fiber completes.
    */
  final private[weir] def register(make: (WaitList, AnyRef) => WaitList.Entry): AnyRef =
    var result: AnyRef | Null = null
    while result eq null do
      ending match
        case outcome: Outcome[?] => result = outcome
        case unhandled: Unhandled => result = unhandled.handled()
        case joiners: Joiners =>
          val entry = make(joiners.list, joiners)
          result = joiners.synchronized {
            if joiners.closed then null // the outcome is there in a moment
            else
              joiners.list.add(entry)
              entry
          }
        case _ => FiberCore.Ending.compareAndSet(this, null, Joiners(this)): Unit
    result.nn

  /** Blocks the calling thread until the fiber has ended. An interrupt cancels the fiber. Then the
    * thread continues to wait for the finalizers, and returns with its interrupt flag set.
    */
  final private[weir] def awaitEnd(): Outcome[Any] =
    register((list, lock) => ThreadJoin(list, lock)) match
      case outcome: Outcome[?] => outcome
      case join: ThreadJoin =>
        var interrupted = false
        while join.isWaiting do
          LockSupport.park(this)
          if Thread.interrupted() then
            interrupted = true
            requestCancel()
        if interrupted then Thread.currentThread().interrupt()
        join.value.asInstanceOf[Outcome[Any]]

private[weir] object FiberCore:
  @static private val Ending: VarHandle =
    MethodHandles.lookup().findVarHandle(classOf[FiberCore], "ending", classOf[AnyRef])
