package weir.fiber

import java.lang.invoke.{MethodHandles, VarHandle}
import scala.annotation.static
import scala.compiletime.uninitialized
import weir.runtime.{ExecutionThread, Job}

/** Decides whether a cancel may interrupt the thread that runs a fiber, so that no interrupt hits a
  * masked region, a finalizer or the thread's next fiber.
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
  *   - **Owner**: the thread that runs the fiber. Only the owner opens and closes the gate.
  *   - **Invariant**: while the gate is closed, no interrupt of a cancel is under way or in the
  *     thread's flag.
  *   - **Ordering**: the canceller writes `cancelRequested`, then reads the gate. The owner opens
  *     the gate, then reads `cancelRequested`. At least one of them sees the other.
  */
private[weir] abstract class InterruptGate extends Job:

  // owner only
  /** True from code that a cancel must not interrupt (`Uninterruptible`) to the next code that it
    * may. The gate stays closed in between, and the instructions there neither close nor open it.
    */
  private var shut: Boolean = false

  // owner only; a canceller reads it while the gate is `Interrupting`, a dump at any time
  /** The thread that runs the fiber; null while the fiber is suspended or queued. */
  final private[weir] var executionThread: ExecutionThread = uninitialized

  // shared
  @volatile final private[weir] var cancelRequested: Boolean = false
  @volatile private var gate: Int = InterruptGate.Closed

  /** For a dump: returns the thread that runs the fiber's plain code, blocked or not. Returns null
    * while the fiber is suspended or queued.
    */
  final private[weir] def runningOn: Thread | Null =
    val executionThread = this.executionThread
    if executionThread eq null then null else executionThread.thread

  final protected def isGateClosed: Boolean = gate == InterruptGate.Closed

  /** Lets a cancel interrupt this thread. A canceller that has found the gate closed has left the
    * interrupt to the owner, whose plain code may go on, and block, without a further check.
    */
  final private[fiber] def openInterruptGate(): Unit =
    if !shut then
      // An interrupt made while the gate was closed: no cancel has made it.
      if cancelRequested && executionThread.takeInterrupt(null) then
        executionThread.interruptedFromOutside()
      gate = InterruptGate.Open // a full fence: pairs with the order of accesses in requestCancel
      if cancelRequested then interruptSelf()

  /** Closes the gate. After it, no interrupt of a cancel arrives, and none is left in the thread's
    * flag.
    */
  final private[fiber] def closeInterruptGate(): Unit =
    if !shut && !InterruptGate.Gate.compareAndSet(this, InterruptGate.Open, InterruptGate.Closed)
    then
      if gate != InterruptGate.Closed then
        // By CAS, since a canceller may be about to interrupt once more: see `interruptOnceMore`.
        while !InterruptGate.Gate
            .compareAndSet(this, InterruptGate.Interrupted, InterruptGate.Closed)
        do Thread.`yield`()
        Thread.interrupted(): Unit

  /** Closes the gate until `reopenInterruptGate`. The gate must be open, or shut already. */
  final protected def shutInterruptGate(): Unit =
    closeInterruptGate()
    shut = true

  final protected def isShut: Boolean = shut

  /** Opens the gate again if it is shut. */
  final protected def reopenInterruptGate(): Unit =
    shut = false
    openInterruptGate()

  private def interruptSelf(): Unit =
    if InterruptGate.Gate.compareAndSet(this, InterruptGate.Open, InterruptGate.Interrupting) then
      Thread.currentThread().interrupt()
      gate = InterruptGate.Interrupted

  /** The canceller's part: interrupts the fiber's thread if the gate is open. */
  final protected def interruptIfOpen(): Unit =
    if InterruptGate.Gate.compareAndSet(this, InterruptGate.Open, InterruptGate.Interrupting) then
      executionThread.thread.interrupt() // written by the owner before it opened the gate
      gate = InterruptGate.Interrupted

  /** A canceller's part after `interruptIfOpen`: interrupts the fiber's thread once more, if the
    * gate has not been closed since.
    */
  final protected def interruptOnceMore(): Unit =
    if InterruptGate.Gate
        .compareAndSet(this, InterruptGate.Interrupted, InterruptGate.Interrupting)
    then
      executionThread.thread.interrupt() // the owner cannot close the gate meanwhile
      gate = InterruptGate.Interrupted

  /** Interrupts the owner's thread again, since code that ran before may have swallowed the
    * interrupt of a cancel. The gate must be open.
    */
  final private[weir] def interruptAgain(): Unit =
    awaitInterrupt()
    if gate == InterruptGate.Interrupted then Thread.currentThread().interrupt()
    else interruptSelf()

  /** Waits for a canceller between its interrupt and its store of `Interrupted`. */
  private def awaitInterrupt(): Unit =
    while gate == InterruptGate.Interrupting do Thread.`yield`()

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

private[weir] object InterruptGate:
  @static private val Gate: VarHandle =
    MethodHandles.lookup().findVarHandle(classOf[InterruptGate], "gate", classOf[Int])

  private inline val Closed = 0
  private inline val Open = 1
  private inline val Interrupting = 2
  private inline val Interrupted = 3
