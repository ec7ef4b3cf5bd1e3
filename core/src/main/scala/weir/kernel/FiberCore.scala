package weir.kernel

import java.lang.invoke.{MethodHandles, VarHandle}
import java.util.concurrent.locks.LockSupport
import scala.annotation.static
import scala.compiletime.uninitialized
import weir.runtime.{Host, Job}
import weir.sync.{Awaited, WaitList}
import weir.task.DirectBlock
import weir.trace.{ErrorTrace, Unhandled}
import weir.{Outcome, Runtime}

/** What others see of a fiber: its gate, its cancellation, its end.
  *
  * README.md in this folder has the protocols.
  */
private[weir] abstract class FiberCore(val runtime: Runtime) extends Job:

  // owner only
  private[weir] var masks: Int = 0
  private[kernel] var finalizing: Boolean = false
  private[weir] var host: Host = uninitialized

  /** Whether its failure is reported if nobody joins it: see `Unhandled`. Written before it is queued. */
  private[kernel] var isReported: Boolean = false

  /** The block of `Task.direct` whose own code runs now; null while that waits for a task. */
  private[weir] var block: DirectBlock | Null = null

  /** The values of this fiber's locals, and what its thread carries for `ContextHook`; null for none. */
  private[weir] var locals: Locals | Null = null

  // shared
  @volatile private[weir] var cancelRequested: Boolean = false

  /** The present or the latest wait. */
  @volatile private[kernel] var waiting: Waiter | Null = null

  /** The fiber of a `runSync` that this fiber's code waits for, unmasked. */
  @volatile private var nested: FiberCore | Null = null

  /** Whether a cancel may interrupt the thread that runs this fiber. */
  @volatile private var gate: Int = FiberCore.Closed

  /** Null, then perhaps `Joiners`, then the `Outcome`, or `Unhandled` with it. */
  @volatile private[kernel] var ending: AnyRef | Null = null

  /** What errors and dumps call this fiber. It costs nothing until somebody asks; two fibers may share a name, if seldom. */
  final private[weir] def name: String = Integer.toHexString(System.identityHashCode(this))

  /** For a dump: the present or the latest wait. */
  final private[weir] def latestWait: Waiter | Null = waiting

  /** For a dump: the fiber of a `runSync` that this fiber's code waits for. */
  final private[weir] def nestedFiber: FiberCore | Null = nested

  runtime.begun(this)

  /** The wait in which the fiber is suspended; null if it is not. */
  final private[weir] def suspendedIn: Waiter | Null =
    val waiter = waiting
    if (waiter ne null) && waiter.isWaiting then waiter else null

  /** The thread that runs the fiber's plain code, blocked or not; null while it is suspended or queued. */
  final private[weir] def runningOn: Thread | Null =
    val host = this.host
    if host eq null then null else host.thread

  // ---- the gate ----

  /** Lets a cancel interrupt this thread. A cancel that has found the gate closed has left that to the owner, whose plain
    * code may go on, and block, without any further look.
    */
  final private[kernel] def openGate(): Unit =
    // Made while the gate was closed, and so by nobody's cancel.
    if cancelRequested && host.takeInterrupt(null) then host.interruptedFromOutside()
    gate = FiberCore.Open // a full fence: pairs with the order of accesses in requestCancel
    if cancelRequested then interruptSelf()

  private def interruptSelf(): Unit =
    if FiberCore.Gate.compareAndSet(this, FiberCore.Open, FiberCore.Interrupting) then
      Thread.currentThread().interrupt()
      gate = FiberCore.Interrupted

  /** Lets the owner's code find the interrupt of a cancel that code before it may have swallowed. The gate must be open. */
  final private[weir] def interruptAgain(): Unit =
    awaitInterrupt()
    if gate == FiberCore.Interrupted then Thread.currentThread().interrupt() else interruptSelf()

  /** The canceller's interrupt may have been seen before it has noted that it has made it. */
  private def awaitInterrupt(): Unit =
    while gate == FiberCore.Interrupting do Thread.`yield`()

  /** Takes back a cancel that the fiber has asked for itself, where that was to end only a part of what it runs. The gate must be
    * open. One that somebody else asks for at the same time may be taken back with it, so the caller has to look afterwards for what such
    * a one has left before it asked.
    */
  final private[weir] def forgetCancel(): Unit =
    closeGate()
    cancelRequested = false
    openGate()

  /** After it, no interrupt of a cancel arrives, and none is left in the thread's flag. */
  final private[kernel] def closeGate(): Unit =
    if !FiberCore.Gate.compareAndSet(this, FiberCore.Open, FiberCore.Closed) then
      if gate != FiberCore.Closed then
        awaitInterrupt()
        Thread.interrupted(): Unit
        gate = FiberCore.Closed

  /** Asks for cancellation from any thread, and returns at once. */
  final private[weir] def requestCancel(): Unit =
    cancelRequested = true
    val inner = nested
    val waiter = waiting
    if inner ne null then inner.requestCancel()
    else if (waiter ne null) && waiter.takeForCancel() then waiter.wakeUp()
    else if FiberCore.Gate.compareAndSet(this, FiberCore.Open, FiberCore.Interrupting) then
      host.thread.interrupt() // the owner has written host before it opened the gate
      gate = FiberCore.Interrupted

  /** Runs `body`, which runs `inner` on this fiber's thread or waits for it. A cancel of this fiber becomes one of
    * `inner`, whose masks and finalizers no interrupt may hit.
    */
  final private[weir] def nesting(inner: FiberCore)(body: => Unit): Unit =
    val block = this.block
    this.block = null // the code of `inner` is not the block's
    try
      if gate == FiberCore.Closed then body // masked, or at its end
      else
        closeGate()
        nested = inner
        if cancelRequested then
          inner.requestCancel() // pairs with the order of accesses in requestCancel
        try body
        finally
          nested = null
          openGate()
    finally this.block = block

  // ---- the end ----

  final private[weir] def outcome: Outcome[Any] | Null = ending match
    case outcome: Outcome[?] => outcome
    case unhandled: Unhandled => unhandled.outcome
    case _ => null

  /** As `outcome`, for one who handles it. */
  final private[kernel] def handledOutcome: Outcome[Any] | Null = ending match
    case unhandled: Unhandled => unhandled.handled()
    case _ => outcome

  /** Called once, by the owner, as its last act. */
  final private[kernel] def end(outcome: Outcome[Any]): Unit = outcome match
    case failed: Outcome.Failed[Any] if isReported && !cancelRequested =>
      val unhandled = Unhandled(failed, this)
      // First, unless somebody waits: the end of the fiber may be all that the program has waited for.
      if ending eq null then unhandled.watch()
      if publish(unhandled, outcome) then unhandled.handled(): Unit else unhandled.watch()
    case _ => publish(outcome, outcome): Unit

  /** True if somebody has got the outcome who had joined before. */
  private def publish(ended: AnyRef, outcome: Outcome[Any]): Boolean =
    FiberCore.Ending.getAndSet(this, ended) match
      case joiners: Joiners => joiners.wakeAll(outcome)
      case _ => false

  /** Registers a joiner, which `make` makes, perhaps more than once. Returns the outcome if the fiber has ended, else the joiner that
    * will be woken.
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

  /** Blocks the calling thread until the fiber has ended. Interrupted, it cancels the fiber, goes on waiting
    * for the finalizers, and leaves the interrupt flag set.
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

private final class Joiners(fiber: FiberCore) extends Awaited:
  def awaitedAs: String = s"the end of fiber ${fiber.name}"
  override def holders: Iterator[RunLoop] = Iterator(fiber).collect { case fiber: RunLoop => fiber }

  val list = WaitList()
  var closed = false

  /** True if any has got it: a wait may have been cancelled. */
  def wakeAll(outcome: Outcome[Any]): Boolean =
    var isTold = false
    var waiting = synchronized {
      closed = true
      list.poll()
    }
    while waiting ne null do
      Joiners.pass(outcome, waiting.fiber, fiber)
      if waiting.complete(outcome) then isTold = true
      waiting = synchronized(list.poll())
    isTold

private[kernel] object Joiners:
  /** Tells in the trace of an error that the fiber `to` has it from `from`. */
  def pass(outcome: Outcome[Any], to: RunLoop | Null, from: FiberCore): Unit = outcome match
    case Outcome.Failed(error) => ErrorTrace.pass(error, to, from)
    case _ => ()

/** A thread that blocks until a fiber has ended. */
private final class ThreadJoin(list: WaitList, lock: AnyRef)
    extends WaitList.Entry(null.asInstanceOf[RunLoop], list, lock):
  thread = Thread.currentThread()
  suspend(): Unit

/** Calls `callback` with the outcome, on the thread that ends the fiber. */
private[weir] final class CallbackJoin(
    callback: Outcome[Any] => Unit,
    runtime: Runtime,
    list: WaitList,
    lock: AnyRef
) extends WaitList.Entry(null.asInstanceOf[RunLoop], list, lock):
  suspend(): Unit
  override protected def resumeFiber(): Unit =
    try callback(value.asInstanceOf[Outcome[Any]])
    catch case error: Throwable => runtime.report("a callback of runAsync", error)

private[weir] object FiberCore:
  @static private val Gate: VarHandle =
    MethodHandles.lookup().findVarHandle(classOf[FiberCore], "gate", classOf[Int])
  @static private val Ending: VarHandle =
    MethodHandles.lookup().findVarHandle(classOf[FiberCore], "ending", classOf[AnyRef])

  private inline val Closed = 0
  private inline val Open = 1
  private inline val Interrupting = 2
  private inline val Interrupted = 3
