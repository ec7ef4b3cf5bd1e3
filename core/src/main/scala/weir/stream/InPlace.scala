package weir.stream

import java.lang.invoke.{MethodHandles, VarHandle}
import java.util.concurrent.atomic.AtomicBoolean
import scala.annotation.static
import weir.WeirRuntime
import weir.fiber.{CancelSignal, Frame, TaskFiber}
import weir.group.HelperRequests
import weir.runtime.{ExecutionThread, Tuning}

/** Runs upstream and the effects of a `parEvalMap` in the consumer's own loop, while the effects
  * are ready and short: no element is handed over then.
  *
  * {{{
  * Off --nothing is in flight--> Free --next--> Pulling --> Running --ready--> Free
  *  ^                              |                           |
  *  +--a helper: no one has asked--+     a helper: it takes long, now it is one of several
  *  |                                                          v
  *  +--not ready, long, the end, an error; by the consumer-- Taken
  * }}}
  *
  * README.md in this folder has the protocol.
  *
  *   - **The consumer** moves the state, except for the moves of a helper, by CAS and under the
  *     lock of the stage.
  *   - **Watched**: from the first effect on, the stage is in a slot of `HelperRequests`, whose
  *     thread requests the helper.
  */
private[stream] final class InPlace(stage: ParEvalMapStage, rule: InPlace.Rule)
    extends Takeover(stage, rule),
      HelperRequests.Requester:
  import InPlace.*
  import stage.{lock, runners, upstream}

  // consumer only; a runner writes the runtime before `isWanted`
  /** The thread on which the consumer was last, and its runtime. */
  private var thread: ExecutionThread | Null = null
  private var runtime: WeirRuntime | Null = null

  /** The number of elements that it has begun with; the thread of `HelperRequests` reads it too. */
  private var begun = 0L
  private var begunBefore = 0L
  private var slowSamples = 0

  // under the lock of the stage
  /** True if the effect that runs is interrupted, since another one has failed. */
  private var isInterrupted = false

  // shared
  @volatile private var state = Off

  /** True once the interrupt has reached the thread. */
  @volatile private var hasInterrupted = false

  /** True while it is in a slot of `HelperRequests`, or about to be. */
  private val watched = AtomicBoolean()

  /** True if upstream or the effects have turned out to take long. */
  @volatile private var isSlow = false

  // thread of HelperRequests only
  private var seen = -1L

  // ---- the states; under the lock ----

  /** Returns true from `begin` to `end`. For the consumer, without the lock. */
  def isOn: Boolean = state != Off

  protected def begin(): Unit =
    isSlow = false
    slowSamples = 0
    begunBefore = begun
    thread = null
    state = Free

  protected def end(): Int =
    val was = State.getAndSet(this, Off).asInstanceOf[Int]
    if was != Off then noteLength()
    was

  private def noteLength(): Unit =
    if begun - begunBefore > Tuning.longRunInPlace then needed = 1 else needMore()

  protected def takeOver(): Int =
    if State.compareAndSet(this, Running, Taken) then Running
    else if State.compareAndSet(this, Free, Off) then
      noteLength()
      Free
    else Pulling

  // ---- the consumer ----

  /** Returns the next result, or a `Terminal`; `Nothing` if the runners continue. */
  def next(fiber: TaskFiber): Any =
    if isSlow || fiber.masks != 0 || (fiber.executionThread ne thread) && !isAt(fiber) then
      leaveToRunners(fiber)
      WaitSlot.Nothing
    else
      begun += 1
      val own = fiber.locals
      fiber.locals = runners.locals
      try if (begun & (Tuning.effectsPerClock - 1)) == 0 then sampled(fiber) else run(fiber)
      catch case error: Throwable => failed(error, fiber)
      finally fiber.locals = own

  private def isAt(fiber: TaskFiber): Boolean =
    thread = fiber.executionThread
    runtime = fiber.runtime
    mayBegin(fiber)

  private def run(fiber: TaskFiber): Any =
    if !State.compareAndSet(this, Free, Pulling) then WaitSlot.Nothing
    else
      val element = upstream.next(fiber)
      if Pull.isEnd(element) then
        lock.locked(fiber) {
          leave()
          runners.source = Pull.End
          Pull.End
        }
      else
        stage.room.take()
        state = Running // a full fence: pairs with the order of accesses in `requestNow`
        if !watched.get then watch()
        val effect = stage.f(element)
        val value = Frame.readyInBudget(fiber, effect)
        if value.asInstanceOf[AnyRef] eq Frame.NotReady then
          fiber.endIfCanceled()
          handOver(effect, fiber)
          WaitSlot.Nothing
        else
          if !State.compareAndSet(this, Running, Free) then leaveToRunners(fiber)
          value

  private def sampled(fiber: TaskFiber): Any =
    val start = System.nanoTime()
    val value = run(fiber)
    if isShort(System.nanoTime() - start) then slowSamples = 0
    else
      slowSamples += 1
      if slowSamples == 2 then isSlow = true
    value

  private def leaveToRunners(fiber: TaskFiber): Unit =
    stage.change(fiber)(leave())
    clearInterrupt(fiber)

  /** Handles an error. An error of another effect, which has interrupted this one, comes first. */
  private def failed(error: Throwable, fiber: TaskFiber): Any =
    val ofUpstream = state == Pulling
    lock.locked(fiber) {
      leave()
      if ofUpstream then runners.source = Pull.End // nobody pulls it any more
    }
    val wasInterrupted = isInterrupted
    clearInterrupt(fiber)
    if error eq CancelSignal then throw error
    else if wasInterrupted then WaitSlot.Nothing
    else
      val own = fiber.failedInPlace(error)
      if ofUpstream then Terminal.Failed(own)
      else
        stage.fail(own, fiber)
        runners.ending

  // ---- the helper ----

  protected def isWatched: Boolean = watched.get

  /** Called by a runner, before the consumer begins. */
  protected def watchFirst(fiber: TaskFiber): Unit =
    runtime = fiber.runtime
    entersSlot(): Unit

  /** Enters a slot of `HelperRequests`. If that is taken, this is the last effect in place. */
  private def watch(): Unit =
    if !entersSlot() && !watched.get then
      isSlow = true
      requestNewHelper()

  /** Enters a slot. Returns false if it is in one already, or gets none. */
  private def entersSlot(): Boolean = watched.compareAndSet(false, true) && {
    val slot = runtime.nn.helperRequests.delay(System.identityHashCode(this), this)
    if slot < 0 then watched.set(false)
    slot >= 0
  }

  private def requestNewHelper(): Unit =
    watched.set(false) // first: pairs with the order of accesses in `run`
    requestHelper(runtime.nn)

  def isBlocked: Boolean =
    val at = thread
    state == Running && (at ne null) && at.nn.thread.getState != Thread.State.RUNNABLE

  /** Enters a slot again while there is progress. */
  def requestNow(): Unit =
    val moves = begun != seen
    seen = begun
    val now = state
    if !moves && now != Pulling || isBlocked then requestNewHelper()
    else
      if !moves then isSlow = true // upstream blocks
      watched.set(false)
      // The consumer may have begun with an effect before that, and have read true. Or it has gone
      // back, and a runner that has read true has offered the elements again.
      if moves || state == Running || state == Free then watch()
      else if state == Off then requestNewHelper()

  // ---- the failure of another effect interrupts the one that runs here ----

  /** By the fiber that stops the stage: the effect is to be interrupted if it is one of several.
    * The consumer leaves this state under the lock too.
    */
  override def stop(): Unit =
    super.stop()
    if state == Taken then isInterrupted = true

  /** By the same fiber, without the lock. */
  def interrupt(): Unit =
    if isInterrupted && !hasInterrupted then
      thread.nn.thread.interrupt()
      hasInterrupted = true

  /** Called by the consumer, without the lock, after `end`. Waits until the interrupt is here, and
    * clears it, so that it hits no code after the effect.
    */
  protected def clearInterrupt(fiber: TaskFiber): Unit =
    if isInterrupted then
      while !hasInterrupted do Thread.onSpinWait()
      Thread.interrupted(): Unit
      if fiber.shouldCancel then fiber.interruptAgain()

private[stream] object InPlace:
  @static private val State: VarHandle =
    MethodHandles.lookup().findVarHandle(classOf[InPlace], "state", classOf[Int])

  /** The rule for when the consumer begins to run effects: after `stretch` ready ones that took
    * less than `shortNanos` on average. Each time that this was wrong, `growth` times as many
    * stretches are needed.
    */
  final class Rule(val stretch: Int, val shortNanos: Long, val growth: Int)

  object Rule:
    val default: Rule = Rule(Tuning.effectStretch, Tuning.shortEffectNanos, growth = 2)

  /** The state of upstream while the consumer runs the effects. */
  object On

  private[stream] inline val Off = 0
  private[stream] inline val Free = 1
  private inline val Pulling = 2
  private[stream] inline val Running = 3
  private[stream] inline val Taken = 4
