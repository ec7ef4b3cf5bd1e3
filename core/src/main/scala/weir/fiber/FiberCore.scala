package weir.fiber

import java.lang.invoke.{MethodHandles, VarHandle}
import java.util.concurrent.locks.LockSupport
import scala.annotation.static
import scala.compiletime.uninitialized
import weir.runtime.{ExecutionThread, Job}
import weir.{Fiber, Outcome, Task, WeirRuntime}

/** The state of a fiber that other threads see, and its cancel: they cancel it, join it, and read
  * its outcome.
  *
  * A cancel may interrupt the thread that runs the fiber, but never in a masked region, in a
  * finalizer or in the thread's next fiber. The interrupt gate decides that:
  *
  * {{{
  * Closed --owner: slice begins, mask ends--> Open --owner, CAS--> Closed
  *                                             |
  *               +--canceller, CAS-------------+
  *               v
  *          Interrupting --canceller--> Interrupted --owner, CAS--> Closed
  *               ^                           |
  *               +---canceller, again, CAS---+
  * }}}
  *
  *   - **Owner**: the thread that runs the fiber. Only the owner opens and closes the gate, and
  *     adds and removes masks.
  *   - **Invariant**: while the gate is closed, no interrupt of a cancel is under way or in the
  *     thread's flag. The gate is open only if no mask is on.
  *   - **Ordering**: the canceller writes `cancelRequested`, then reads the gate. The owner opens
  *     the gate, then reads `cancelRequested`. At least one of them sees the other.
  *
  * README.md in this folder has the contract with `FiberStack`, and the protocols.
  */
private[weir] abstract class FiberCore(final val runtime: WeirRuntime) extends Job, Fiber[Any]:

  // owner only
  /** The number of masks that are on. A cancel is noticed only at 0. */
  final private[weir] var masks: Int = 0

  /** True from the moment at which a cancel begins to unwind the stack. One mask stays on from
    * then.
    */
  final private[weir] var finalizing: Boolean = false

  /** True from code that a cancel must not interrupt (`Uninterruptible`) to the next code that it
    * may. The gate stays closed in between, and the instructions there neither close nor open it.
    */
  private var shut: Boolean = false

  /** True once its first slice has begun. Read by the figures of the runtime. */
  final private[weir] var isBegun: Boolean = false

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

  // owner only; a canceller reads it while the gate is `Interrupting`, a dump at any time
  /** The thread that runs the fiber; null while the fiber is suspended or queued. */
  final private[weir] var executionThread: ExecutionThread = uninitialized

  // shared
  @volatile final private[weir] var cancelRequested: Boolean = false
  @volatile private var gate: Int = FiberCore.Closed

  /** The present or the latest wait. */
  @volatile final private[fiber] var waiting: Waiter | Null = null

  /** The fiber that a cancel of this one is passed to: that of a `runSync` which this fiber's code
    * waits for, unmasked, or that of an `evalOn` which its plain code awaits.
    */
  @volatile private var nested: FiberCore | Null = null

  /** Null or an `EndCallback` at first, then possibly `Joiners`, then the `Outcome`, or `Unhandled`
    * with the outcome.
    */
  @volatile final private[fiber] var ending: AnyRef | Null = null

  runtime.begun(this)

  /** The name of this fiber in errors and dumps. It is computed on demand. Two fibers may share a
    * name; that is rare.
    */
  final private[weir] def name: String = Integer.toHexString(System.identityHashCode(this))

  // ---- for dumps ----

  /** Returns the thread that runs the fiber's plain code, blocked or not. Returns null while the
    * fiber is suspended or queued.
    */
  final private[weir] def runningOn: Thread | Null =
    val executionThread = this.executionThread
    if executionThread eq null then null else executionThread.thread

  /** Returns the present or the latest wait. */
  final private[weir] def latestWait: Waiter | Null = waiting

  /** Returns the fiber of a `runSync`, or of an awaited `evalOn`, that this fiber waits for. */
  final private[weir] def nestedFiber: FiberCore | Null = nested

  /** Returns the wait in which the fiber is suspended, or null if it is not suspended. */
  final private[weir] def suspendedIn: Waiter | Null =
    val waiter = waiting
    if (waiter ne null) && waiter.isWaiting then waiter else null

  // ---- masks ----

  /** Returns true if the fiber has to begin to unwind now. */
  final private[weir] def shouldCancel: Boolean = cancelRequested && masks == 0

  final def addMask(): Unit =
    if masks == 0 then closeInterruptGate()
    masks += 1

  final def removeMask(): Unit =
    // While finalizing, one mask stays, also if a cancel has ended masked code half-way.
    if masks > 1 || !finalizing then
      masks -= 1
      if masks == 0 then openInterruptGate()

  /** Must be called before code that a cancel must not interrupt. Costs an atomic operation only if
    * the code before it was interruptible.
    */
  final private[fiber] def beginUninterruptible(): Unit =
    if masks == 0 && !shut then
      closeInterruptGate()
      shut = true

  /** Must be called before code that a cancel may interrupt. */
  final private[fiber] def beginInterruptible(): Unit =
    if shut && masks == 0 then
      shut = false
      openInterruptGate()

  // ---- the interrupt gate: the owner's part ----

  /** Lets a cancel interrupt this thread. A canceller that has found the gate closed has left the
    * interrupt to the owner, whose plain code may go on, and block, without a further check.
    */
  final private[fiber] def openInterruptGate(): Unit =
    if !shut then
      // An interrupt made while the gate was closed: no cancel has made it.
      if cancelRequested && executionThread.takeInterrupt(null) then
        executionThread.interruptedFromOutside()
      gate = FiberCore.Open // a full fence: pairs with the order of accesses in requestCancel
      if cancelRequested then interruptSelf()

  /** Closes the gate. After it, no interrupt of a cancel arrives, and none is left in the thread's
    * flag.
    */
  final private[fiber] def closeInterruptGate(): Unit =
    if !shut && !FiberCore.Gate.compareAndSet(this, FiberCore.Open, FiberCore.Closed) then
      if gate != FiberCore.Closed then
        // By CAS, since a canceller may be about to interrupt once more: see `interruptOnceMore`.
        while !FiberCore.Gate.compareAndSet(this, FiberCore.Interrupted, FiberCore.Closed)
        do Thread.`yield`()
        Thread.interrupted(): Unit

  private def interruptSelf(): Unit =
    if FiberCore.Gate.compareAndSet(this, FiberCore.Open, FiberCore.Interrupting) then
      Thread.currentThread().interrupt()
      gate = FiberCore.Interrupted

  /** Interrupts the owner's thread again, since code that ran before may have swallowed the
    * interrupt of a cancel. The gate must be open.
    */
  final private[weir] def interruptAgain(): Unit =
    awaitInterrupt()
    if gate == FiberCore.Interrupted then Thread.currentThread().interrupt()
    else interruptSelf()

  /** Waits for a canceller between its interrupt and its store of `Interrupted`. */
  private def awaitInterrupt(): Unit =
    while gate == FiberCore.Interrupting do Thread.`yield`()

  /** Takes back a cancel that the fiber has requested itself, and that was to end only a part of
    * what it runs. The gate must be open.
    *
    * A cancel that another thread requests at the same time may be taken back with it. So the
    * caller has to check afterwards for what such a canceller has written before its request.
    */
  final private[weir] def forgetCancel(): Unit =
    closeInterruptGate()
    cancelRequested = false
    openInterruptGate()

  // ---- cancelling: a canceller's part, on any thread ----

  /** Requests cancellation from any thread, and returns at once. */
  final private[weir] def requestCancel(): Unit =
    cancelRequested = true
    val inner = nested
    val waiter = waiting
    if inner ne null then inner.requestCancel()
    else if (waiter ne null) && waiter.takeForCancel() then waiter.wakeUp()
    else interruptIfOpen()

  private def interruptIfOpen(): Unit =
    if FiberCore.Gate.compareAndSet(this, FiberCore.Open, FiberCore.Interrupting) then
      executionThread.thread.interrupt() // written by the owner before it opened the gate
      gate = FiberCore.Interrupted

  /** Interrupts once more the plain code that a cancel has interrupted before, and that still runs.
    */
  final private[weir] def interruptCodeOnceMore(): Unit =
    val inner = nested
    if inner ne null then inner.interruptCodeOnceMore() else interruptOnceMore()

  /** Interrupts the fiber's thread once more, if the gate has not been closed since the first
    * interrupt.
    */
  private def interruptOnceMore(): Unit =
    if FiberCore.Gate.compareAndSet(this, FiberCore.Interrupted, FiberCore.Interrupting) then
      executionThread.thread.interrupt() // the owner cannot close the gate meanwhile
      gate = FiberCore.Interrupted

  // ---- nesting: a cancel of this fiber becomes one of another ----

  /** Runs `body`, which runs `inner` on this fiber's thread or waits for it. A cancel of this fiber
    * becomes a cancel of `inner`, so that no interrupt hits the masks and finalizers of `inner`.
    */
  final private[weir] def nesting(inner: FiberCore)(body: => Unit): Unit =
    val block = this.block
    this.block = null // the code of `inner` is not the block's
    try
      if gate == FiberCore.Closed then body // masked, or at the fiber's end
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

  // ---- the outcome ----

  final private[weir] def outcome: Outcome[Any] | Null = ending match
    case outcome: Outcome[?] => outcome
    case unhandled: Unhandled => unhandled.outcome
    case _ => null

  /** As `outcome`, for a caller that handles a failure: the failure is then not reported any more.
    */
  private def handledOutcome: Outcome[Any] | Null = ending match // read once: it may end now
    case outcome: Outcome[?] => outcome
    case unhandled: Unhandled => unhandled.handled()
    case _ => null

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
      case callback: EndCallback =>
        passTrace(outcome, null)
        callback.call(outcome, runtime)
        true
      case _ => false

  /** Has `callback` called with the outcome, on the thread that ends the fiber. An error of
    * `callback` is reported. The maker of the fiber calls this method, at most once, and before
    * anybody else knows the fiber.
    */
  final private[weir] def atEnd(callback: Outcome[Any] => Unit): Unit =
    ending = EndCallback(callback)

  /** Notes in the trace of this fiber's error that the fiber `to` gets it from this one. */
  final private[fiber] def passTrace(outcome: Outcome[Any], to: TaskFiber | Null): Unit =
    outcome match
      case Outcome.Failed(error) => runtime.errorTraces.pass(error, to, from = this)
      case _ => ()

  /** Registers a joiner, which `make` makes, possibly more than once. Returns the outcome if the
    * fiber has ended, or else the joiner, which the end of the fiber completes. If `handles` is
    * true, a failure that is returned is not reported any more.
    */
  final private[weir] def register(
      make: (WaitList, AnyRef) => WaitList.Entry,
      handles: Boolean = true
  ): AnyRef =
    var result: AnyRef | Null = null
    while result eq null do
      ending match
        case outcome: Outcome[?] => result = outcome
        case unhandled: Unhandled =>
          result = if handles then unhandled.handled() else unhandled.outcome
        case joiners: Joiners =>
          val entry = make(joiners.list, joiners)
          result = joiners.synchronized {
            if joiners.closed then null // the outcome is there in a moment
            else
              joiners.list.add(entry)
              entry
          }
        case callback: EndCallback => makeJoiners(callback)
        case _ => makeJoiners(null)
    result.nn

  private def makeJoiners(first: EndCallback | Null): Unit =
    FiberCore.Ending.compareAndSet(this, first, Joiners(this, first)): Unit

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

  // ---- the methods of Fiber ----

  final def join: Task[Outcome[Any]] = joining(handles = true)

  final def poll: Task[Option[Outcome[Any]]] = new Suspend[Option[Outcome[Any]]]:
    def begin(fiber: TaskFiber): Any =
      val ended = handledOutcome
      if ended ne null then passTrace(ended, fiber)
      Option(ended)

  private def joining(handles: Boolean): Task[Outcome[Any]] = new Suspend[Outcome[Any]]:
    def begin(fiber: TaskFiber): Any =
      register((list, lock) => WaitList.Entry(fiber, list, lock), handles) match
        case ended: Outcome[?] =>
          passTrace(ended, fiber)
          ended
        case joiner => joiner

  final def cancel: Task[Unit] =
    val request = new Suspend[Boolean]:
      def begin(fiber: TaskFiber): Any =
        val own = isRunBy(fiber)
        if fiber ne FiberCore.this then requestCancel()
        own
    new Uncancelable[Unit](poll =>
      request.flatMap(own => if own then poll(CancelSelf) else joining(handles = false).void)
    ) with RunsAnywhere

  // ---- locals ----

  /** Returns the locals for a fiber that this one makes now. */
  final private[weir] def localsForChild: Locals | Null =
    val hook = runtime.hook
    if hook eq null then locals else Locals.updated(locals, hook, hook.capture())

  /** Continues with `locals`: those of another fiber, whose work this one does in place, or its own
    * on another thread.
    */
  final private[weir] def adopt(locals: Locals | Null): Unit =
    this.locals = locals
    val hook = runtime.hook
    if hook ne null then hook.install(Locals.valueIn(locals, hook, null).asInstanceOf[AnyRef])

private[weir] object FiberCore:
  @static private val Ending: VarHandle =
    MethodHandles.lookup().findVarHandle(classOf[FiberCore], "ending", classOf[AnyRef])
  @static private val Gate: VarHandle =
    MethodHandles.lookup().findVarHandle(classOf[FiberCore], "gate", classOf[Int])

  private inline val Closed = 0
  private inline val Open = 1
  private inline val Interrupting = 2
  private inline val Interrupted = 3

/** The values of a fiber's locals, by the object that each belongs to. It is immutable, so a fork
  * copies a reference.
  */
private[weir] type Locals = Map[AnyRef, Any]

private[weir] object Locals:

  def valueIn(locals: Locals | Null, key: AnyRef, default: Any): Any =
    if locals eq null then default else locals.getOrElse(key, default)

  /** Returns `locals` with `value` under `key`. A null `value` removes the key. */
  def updated(locals: Locals | Null, key: AnyRef, value: Any): Locals | Null =
    if value == null then
      if (locals eq null) || !locals.contains(key) then locals
      else if locals.size == 1 then null
      else locals.removed(key)
    else if locals eq null then Map(key -> value)
    else locals.updated(key, value)
